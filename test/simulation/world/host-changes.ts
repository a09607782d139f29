import { type Chances, makeChances } from '../chances.ts';
import type { Steering } from '../pairs/steering.ts';
import type { FaultKind, Setup } from '../setup.ts';
import type { Account, Host } from './process-model.ts';
import type { Scheduler } from './scheduler.ts';

/** A place where a daemon runs, and comes back after a crash, with what its config file says by then. */
export interface HostModel extends Host {
  readonly name: string;
  account: Account;
  accessKey: number;
  config: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * What people do to config files during the night: a new config reaches one host after the other, a daemon is started
 * with an older one, with another account's key, or with another key of the same account. When nothing goes wrong any more, all hosts have the newest config
 * of our account, and those that were added are gone.
 */
export function planHostChanges(
  {
    setup,
    scheduler,
    steering,
  }: { readonly setup: Setup; readonly scheduler: Scheduler; readonly steering: Pick<Steering, 'able'> },
  {
    hosts,
    newest,
    restart,
    add,
    remove,
    struck,
  }: {
    readonly hosts: readonly HostModel[];
    newest(): number;
    /** Its daemon stops, and starts again with what the host says then. */
    restart(host: HostModel): void;
    /** One more daemon, on a host of its own. */
    add(host: Host): HostModel;
    remove(host: HostModel): void;
    struck(kind: FaultKind): void;
  },
): void {
  const chances = makeChances(setup.seed, 'hosts');
  const startsAt = scheduler.now();
  const endsAt = startsAt + setup.troubleMs;
  const added = new Set<HostModel>();
  const change = (host: HostModel, to: Partial<Host>): void => {
    if (scheduler.now() > endsAt) return;
    Object.assign(host, to);
    restart(host);
  };
  let accessKey = 1;
  const during = (): number => startsAt + chances.between(0, setup.troubleMs);
  const later = (most: number): number => scheduler.now() + chances.int(1, most);

  const often = (kind: 'otherConfig' | 'otherAccount', happen: () => void): void => {
    const andNote = (): void => {
      struck(kind);
      happen();
    };
    const count = Math.round(setup.faults[kind]);
    for (let index = 0; index < count; index += 1) scheduler.at(during(), andNote);
    steering.able(kind, andNote);
  };
  often('otherConfig', () => {
    const isFirst = hosts.every(({ config }) => config !== newest());
    // The first is the new config's own arrival: one host has it before the others.
    if (isFirst)
      for (const host of hosts) scheduler.at(later(2 * hourMs), () => change(host, { config: newest() }));
    else if (chances.hit(0.5)) startsWith({ ...one(chances, hosts), config: 0 });
    else change(one(chances, hosts), { config: 0 });
  });
  often('otherAccount', () => {
    const kind = chances.pick(['one', 'one', 'all', 'added', 'newKey'] as const);
    if (kind === 'added') return startsWith({ ...one(chances, hosts), account: 'other' });
    if (kind === 'newKey') {
      accessKey += 1;
      const to = { accessKey };
      for (const host of hosts) scheduler.at(later(hourMs), () => change(host, to));
      return;
    }
    const lastsMs = chances.pick([5 * minuteMs, 30 * minuteMs, 2 * hourMs]);
    for (const host of kind === 'all' ? hosts : [one(chances, hosts)]) {
      change(host, { account: 'other' });
      scheduler.at(scheduler.now() + lastsMs, () => {
        if (host.account !== 'ours') change(host, { account: 'ours' });
      });
    }
  });
  function startsWith(of: Host): void {
    const host = add(of);
    added.add(host);
    scheduler.at(later(4 * hourMs), () => {
      if (added.delete(host)) remove(host);
    });
  }
  scheduler.at(endsAt, () => {
    for (const host of added) remove(host);
    added.clear();
    for (const host of hosts) {
      if (host.account === 'ours' && host.config === newest() && host.accessKey === accessKey) continue;
      Object.assign(host, { account: 'ours', config: newest(), accessKey });
      restart(host);
    }
  });
}

function one(chances: Chances, hosts: readonly HostModel[]): HostModel {
  return chances.pick(hosts as readonly [HostModel, ...HostModel[]]);
}
