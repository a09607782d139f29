import { type Chances, makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import { drawBrakes } from '../random-policy.ts';
import { slotOf } from './config-model.ts';
import type { DaemonModel } from './daemon-model.ts';
import type { HostModel } from './host-changes.ts';
import { expectFaults } from './people.ts';

const minuteMs = 60_000;

/**
 * People change windows, freezes, slots, caps and limits in the config: one host after the other gets the new file, and its
 * daemon reads it anew, or is restarted; some hosts keep the older one.
 */
export function planReloads(
  night: Night,
  {
    hosts,
    daemonOn,
    restart,
  }: {
    readonly hosts: readonly HostModel[];
    daemonOn(host: HostModel): DaemonModel | undefined;
    restart(host: HostModel): void;
  },
): void {
  const { setup, scheduler } = night;
  const chances = makeChances(setup.seed, 'reloads');
  const startsAt = scheduler.now();
  const getConfig = (host: HostModel, config: number): void => {
    if (!night.isTroubled() || host.account !== 'ours' || host.config > config) return;
    host.config = config;
    const daemon = daemonOn(host);
    if (daemon === undefined || chances.hit(0.15)) restart(host);
    else void reload(night, daemon, config);
  };
  const change = (): void => {
    if (!night.isTroubled()) return;
    const newest = night.configs.at(-1) ?? [];
    night.struck('reload');
    roll(chances, night.addConfig(newest.map((policy) => drawBrakes(chances, policy, scheduler.now()))));
  };
  /** One host after the other gets the new file; some keep the older one. */
  const roll = (by: Chances, config: number): void => {
    const [first, ...others] = by.hit(0.5) ? hosts : hosts.toReversed();
    if (first !== undefined) getConfig(first, config);
    for (const host of others)
      if (by.hit(0.6))
        scheduler.at(scheduler.now() + by.int(1, 60 * minuteMs), () => getConfig(host, config));
  };
  planNames(night, roll);
  night.steering.able('reload', change);
  for (let index = 0; index < Math.round(setup.faults.reload); index += 1) {
    scheduler.at(startsAt + chances.between(0, setup.troubleMs), () => {
      // What former brakes gave their turn a moment ago must not leave by it.
      if (chances.hit(0.4)) change();
      else night.afterNextAdmission(() => scheduler.at(scheduler.now() + chances.int(0, 4_000), change));
    });
  }
}

/** People rename a policy, or remove it, and may bring it back by its name. */
function planNames(night: Night, roll: (chances: Chances, config: number) => void): void {
  const { setup, scheduler, steering } = night;
  const chances = makeChances(setup.seed, 'policy names');
  const startsAt = scheduler.now();
  const newest = () => night.configs.at(-1) ?? [];
  const often = (kind: 'policyRenamed' | 'policyRemoved', change: () => void): void => {
    const andNote = (): void => {
      if (!night.isTroubled() || newest().length === 0) return;
      night.struck(kind);
      night.trace('person', () => kind);
      change();
    };
    for (let index = 0; index < Math.round(setup.faults[kind]); index += 1)
      scheduler.at(startsAt + chances.between(0, setup.troubleMs), andNote);
    steering.able(kind, andNote);
  };
  let renamed = 0;
  often('policyRenamed', () => {
    const old = chances.some(newest())?.name ?? '';
    renamed += 1;
    const name = `${slotOf(old)}-${renamed}`;
    roll(
      chances,
      night.addConfig(newest().map((policy) => (policy.name === old ? { ...policy, name } : policy))),
    );
  });
  often('policyRemoved', () => {
    const removed = chances.some(newest());
    if (removed === undefined) return;
    roll(chances, night.addConfig(newest().filter((policy) => policy !== removed)));
    scheduler.at(scheduler.now() + chances.int(1, 120) * minuteMs, () => {
      if (!night.isTroubled() || newest().some(({ name }) => slotOf(name) === slotOf(removed.name))) return;
      roll(chances, night.addConfig([...newest(), removed]));
    });
  });
}

async function reload(night: Night, daemon: DaemonModel, config: number): Promise<void> {
  const { name } = daemon.process;
  // What was answered would be undone where the store goes back.
  const spoken = night.orders.asks([]);
  const answered = night.brakes.asks(name);
  night.trace('person', () => `reload of config ${config} on ${name}`);
  const result = await Promise.race([
    expectFaults(night, 'reload', () => daemon.reload(config)),
    gaveUp(night),
  ]);
  night.trace('person', () => `reload of config ${config} on ${name}: ${result?.kind ?? 'no answer'}`);
  spoken();
  for (const of of night.seen.all.values()) of.isDisturbed = true;
  answered(
    result === undefined || result.kind === 'refused'
      ? undefined
      : { config, rollouts: result.rollouts.map(({ rollout }) => rollout) },
  );
}

/** Whoever speaks to a daemon that dies gives up after a while. */
function gaveUp({ scheduler }: Night): Promise<undefined> {
  return new Promise((resolve) => scheduler.at(scheduler.now() + 10 * minuteMs, () => resolve(undefined)));
}
