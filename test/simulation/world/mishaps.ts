import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { FaultKind } from '../setup.ts';
import type { CollectorModel } from './collector-model.ts';
import { spellKinds } from './gateway-model.ts';
import { firstTarget, newerBuild, oldBuilds } from './night-fleet.ts';

const minuteMs = 60_000;

/** What happens to the fleet and the builds during the night, at instants drawn beforehand. */
export function planMishaps(night: Night): void {
  const { setup, scheduler, service } = night;
  const { world } = service;
  const chances = makeChances(setup.seed, 'mishaps');
  const builds = makeChances(setup.seed, 'withdrawn builds');
  const startsAt = scheduler.now();
  const times = (kind: FaultKind, happen: () => void): void => {
    const count = Math.round(setup.faults[kind]);
    for (let index = 0; index < count; index += 1) {
      scheduler.at(startsAt + chances.between(0, setup.troubleMs), () => {
        night.struck(kind);
        night.trace('world', () => kind);
        happen();
      });
    }
  };
  const anyone = (): CollectorModel | undefined =>
    chances.some([...service.collectors.values()].filter(({ deletedAt }) => deletedAt === null));
  const soon = (happen: () => void, most: number) =>
    scheduler.at(scheduler.now() + chances.int(1, most) * minuteMs, happen);

  times('collectorDies', () => {
    const collector = anyone();
    if (collector === undefined) return;
    service.goDown(collector);
    if (chances.hit(0.7)) soon(() => service.comeUp(collector), 300);
  });
  times('collectorAppears', () => service.appear());
  times('collectorLeaves', () => {
    const collector = anyone();
    if (collector !== undefined) service.leave(collector);
  });
  /** One that its rollout is about to upgrade. */
  const someMember = (): CollectorModel | undefined => {
    for (const { rollout, upgrades } of night.seen.all.values()) {
      if (rollout.endedAt !== null) continue;
      const wave = rollout.waves.findIndex(({ state }) => state === 'open');
      const waiting = [...upgrades.values()].filter(
        (upgrade) =>
          upgrade.identity.wave === wave &&
          (upgrade.progress.state === 'pending' || upgrade.progress.state === 'queued'),
      );
      const collector = service.collectors.get(chances.some(waiting)?.identity.collectorId ?? 0);
      if (collector !== undefined && collector.deletedAt === null) return collector;
    }
    return undefined;
  };
  /** One that is upgraded, and whose wave may be measured. */
  const someSucceeded = (): CollectorModel | undefined => {
    for (const { rollout, upgrades } of night.seen.all.values()) {
      const done = [...upgrades.values()].filter(({ progress: { state } }) => state === 'succeeded');
      const collector = service.collectors.get(chances.some(done)?.identity.collectorId ?? 0);
      if (rollout.endedAt === null && collector !== undefined) return collector;
    }
    return undefined;
  };
  times('collectorRenamed', () => {
    const collector = someSucceeded() ?? anyone();
    if (collector !== undefined) service.rename(collector);
  });
  times('someoneElse', () => {
    const collector = (chances.hit(0.5) ? someMember() : undefined) ?? anyone();
    const toBuild = chances.pick([firstTarget, firstTarget, oldBuilds[2]]);
    if (collector !== undefined) service.click(collector, toBuild);
  });
  times('buildWithdrawn', () => {
    const gone = builds.pick([firstTarget, firstTarget, oldBuilds[2]]);
    world.withdrawBuild(gone);
    if (chances.hit(0.6)) soon(() => world.offerBuild(gone), 240);
  });
  times('buildNewer', () => world.offerBuild(newerBuild));
  // Where upgrades are on their way there is something to lose.
  const whileBusy = (happen: () => void) => (): void => {
    if (service.running().size > 0) happen();
    else if (night.isTroubled())
      scheduler.at(scheduler.now() + chances.int(1, 10) * 10_000, whileBusy(happen));
  };
  // A reading that goes wrong matters where upgrades run, and where a wave shows how it does.
  const whileRead = (happen: () => void) => (): void => {
    const isSoaking = () =>
      [...night.seen.all.values()].some(({ rollout }) =>
        rollout.waves.some(({ state }) => state === 'soaking'),
      );
    if (service.running().size > 0 || isSoaking()) happen();
    else if (night.isTroubled())
      scheduler.at(scheduler.now() + chances.int(1, 10) * 10_000, whileRead(happen));
  };
  times('storeEmptied', whileBusy(night.emptyStore));
  // A file that lost its last second, or a replica that lagged.
  times(
    'storeGoesBack',
    whileBusy(() => night.takeStoreBack(chances.pick([1_000, 5_000, 15_000, 60_000]))),
  );
  planRestarts(night);
  for (const kind of spellKinds)
    times(
      kind,
      whileRead(() => night.gateway.begin(kind)),
    );
}

function planRestarts({ setup, scheduler, stores, restartStore, struck }: Night): void {
  if (stores.restart === undefined) return;
  const chances = makeChances(setup.seed, 'restarts of the store');
  for (let count = 0; count < Math.round(setup.faults.storeRestarts); count += 1)
    scheduler.at(scheduler.now() + chances.between(0, setup.troubleMs), () => {
      struck('storeRestarts');
      restartStore();
    });
}
