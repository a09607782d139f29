import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { Subject } from '../pairs/meetings.ts';
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
  const often = (kind: FaultKind, happen: () => void): void => {
    const count = Math.round(setup.faults[kind]);
    for (let index = 0; index < count; index += 1)
      scheduler.at(startsAt + chances.between(0, setup.troubleMs), happen);
  };
  const begin = (kind: FaultKind, subject?: Subject): void => {
    night.struck(kind, subject);
    night.trace('world', () => kind);
  };
  const times = (kind: FaultKind, happen: () => void): void => {
    const andNote = (): void => {
      begin(kind);
      happen();
    };
    often(kind, andNote);
    night.steering.able(kind, andNote);
  };
  const anyone = (): CollectorModel | undefined =>
    chances.some([...service.collectors.values()].filter(({ deletedAt }) => deletedAt === null));
  /** The same for what happens to a collector: which one is drawn, or wanted. */
  const timesTo = (
    kind: FaultKind,
    draw: () => CollectorModel | undefined,
    happen: (collector: CollectorModel) => void,
  ): void => {
    const to = (collector: CollectorModel | undefined): void => {
      begin(kind, { collectorId: collector?.about.id ?? 0 });
      if (collector !== undefined) happen(collector);
    };
    often(kind, () => to(draw()));
    night.steering.able(kind, (wanted) => {
      const collector = service.collectors.get(wanted?.collectorId ?? 0);
      to(collector?.deletedAt === null ? collector : draw());
    });
  };
  const soon = (happen: () => void, most: number) =>
    scheduler.at(scheduler.now() + chances.int(1, most) * minuteMs, happen);

  timesTo('collectorDies', anyone, (collector) => {
    service.goDown(collector);
    if (chances.hit(0.7)) soon(() => service.comeUp(collector), 300);
  });
  times('collectorAppears', () => service.appear());
  timesTo('collectorLeaves', anyone, service.leave);
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
  timesTo('collectorRenamed', () => someSucceeded() ?? anyone(), service.rename);
  const someone = () => (chances.hit(0.5) ? someMember() : undefined) ?? anyone();
  timesTo('someoneElse', someone, (collector) =>
    service.click(collector, chances.pick([firstTarget, firstTarget, oldBuilds[2]])),
  );
  times('buildWithdrawn', () => {
    const gone = builds.pick([firstTarget, firstTarget, oldBuilds[2]]);
    world.withdrawBuild(gone);
    if (chances.hit(0.6)) soon(() => world.offerBuild(gone), 240);
  });
  times('buildNewer', () => world.offerBuild(newerBuild));
  const offerAfter = (): void => {
    if (!night.isTroubled()) return;
    const isOver = [...night.seen.all.values()].some(({ rollout }) => rollout.endedAt !== null);
    if (isOver) {
      begin('buildNewer');
      world.offerBuild(newerBuild);
    } else scheduler.at(scheduler.now() + 10 * minuteMs, offerAfter);
  };
  if (setup.leansTo.includes('newerAfter')) offerAfter();
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
  const emptyStore = (): void => {
    begin('storeEmptied');
    night.emptyStore();
  };
  often('storeEmptied', whileBusy(emptyStore));
  night.steering.able('storeEmptied', emptyStore);
  // A file that lost its last second, or a replica that lagged.
  const takeStoreBack = (isAnyTime: boolean) =>
    night.takeStoreBack(chances.pick([1_000, 5_000, 15_000, 60_000]), isAnyTime);
  often(
    'storeGoesBack',
    whileBusy(() => takeStoreBack(false)),
  );
  night.steering.able('storeGoesBack', () => takeStoreBack(true));
  planRestarts(night);
  for (const kind of spellKinds) {
    const beginSpell = (): void => {
      begin(kind);
      night.gateway.begin(kind);
    };
    often(kind, whileRead(beginSpell));
    night.steering.able(kind, beginSpell);
  }
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
