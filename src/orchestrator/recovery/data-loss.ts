import { hashHex } from '../../base/hash.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { wasStopped } from '../../rollout/decision/after-data-loss.ts';
import { dataLossText } from '../../rollout/messages/data-loss-texts.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { FleetRegister, Holds, StoreInstance } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

export type StoreMemory = ReturnType<typeof makeStoreMemory>;

export interface StoreMemoryParts {
  readonly store: Pick<RolloutStore, 'listRollouts' | 'activeRolloutIds' | 'loadRollout'>;
  readonly register: FleetRegister;
  readonly instance: StoreInstance;
  readonly sink: EventSink;
  readonly clock: Clock;
  /** Names of the policies of the current config. */
  readonly policies: () => readonly string[];
}

// A removed policy that comes back sooner must not start by itself after an abort that Redis lost.
const removedKeptMs: DurationMs = 90 * 86_400_000;

/**
 * Remembers data of the store to recover it after a data loss (P11). A daemon that has just started takes the result of its
 * first check as complete.
 */
export function makeStoreMemory(parts: StoreMemoryParts) {
  const { store, register, sink, clock, policies } = parts;
  let known: { readonly instance: string; readonly holds: Holds } | undefined;
  /** By policy: the newest rollout that is not a rollback. */
  const latest = new Map<string, Rollout>();
  /** By policy: the newest rollout of either kind. Kept after a loss, because no rollout number may be reused. */
  const newestIds = new Map<string, Pick<Rollout, 'id' | 'createdAt'>>();
  /** By policy: the rollout that was stopped and then lost. */
  const stopped = new Map<string, Rollout>();
  let losses = 0;
  let checking: Promise<unknown> = Promise.resolve();

  async function checkOnce(): Promise<string> {
    const rollouts = await readRollouts();
    const holds = await register.holds();
    // Read last: a store that loses its data in between has a new instance id by then.
    const instance = await parts.instance.identify();
    const lostHolds = known !== undefined && known.instance !== instance ? known.holds : undefined;
    // In a Cluster, a single node may lose its data. A restored store may have part of its data.
    const before = lostHolds === undefined ? activeBefore() : [...latest.values()];
    const gone = before.filter(isMissing(lostHolds === undefined ? rollouts : await loadAll(before)));
    if (lostHolds !== undefined || gone.length > 0) await recover(instance, gone, lostHolds);
    known = { instance, holds: lostHolds ?? holds };
    for (const rollout of rollouts.filter(isMissing(gone))) learn(rollout);
    forgetRemoved();
    return `${instance} ${losses}`;
  }

  /** All rollouts at the first check; later the active ones, and those that were active at the last check. */
  async function readRollouts(): Promise<readonly Rollout[]> {
    if (known === undefined) return store.listRollouts(policies());
    const active = (await store.activeRolloutIds(policies())).map((id) => ({ id }));
    return loadAll([...active, ...activeBefore()]);
  }

  async function loadAll(rollouts: ReadonlyArray<Pick<Rollout, 'id'>>): Promise<readonly Rollout[]> {
    const ids = [...new Set(rollouts.map(({ id }) => id))];
    const loaded = await Promise.all(ids.map((id) => store.loadRollout(id)));
    return loaded.filter((rollout) => rollout !== undefined);
  }

  /** An active rollout never disappears from the store by itself. An ended one expires. */
  function activeBefore(): readonly Rollout[] {
    return [...latest.values()].filter(({ endedAt }) => endedAt === null);
  }

  function learn(rollout: Rollout): void {
    const { id, kind, createdAt } = rollout;
    const policy = rollout.policy.name;
    if (createdAt >= (newestIds.get(policy)?.createdAt ?? 0)) newestIds.set(policy, { id, createdAt });
    if (kind === 'rollback' || createdAt < (latest.get(policy)?.createdAt ?? 0)) return;
    latest.set(policy, rollout);
    // No daemon starts the policy by itself, so an operator did.
    stopped.delete(policy);
  }

  /** Policies that reloads removed would otherwise be remembered for the life of the process. */
  function forgetRemoved(): void {
    for (const [policy, { createdAt }] of newestIds) {
      if (policies().includes(policy) || latest.get(policy)?.endedAt === null) continue;
      if (clock.now() - createdAt < removedKeptMs) continue;
      latest.delete(policy);
      newestIds.delete(policy);
    }
  }

  /** @param lostHolds undefined: no hold was lost */
  async function recover(
    instance: string,
    gone: readonly Rollout[],
    lostHolds: Holds | undefined,
  ): Promise<void> {
    const halted = gone.filter((rollout) => wasStopped(rollout, rollout.plan.targetBuild));
    for (const rollout of halted) stopped.set(rollout.policy.name, rollout);
    const holds = lostHolds ?? { builds: [], collectors: [], groups: [] };
    const takenIds = [...newestIds.values()].map(({ id }) => id);
    await parts.instance.putBack({ instance, holds, takenIds });
    const reason = dataLossText({ rollouts: gone, stopped: halted, heldAgain: namesOf(holds) });
    // The audit starts here, or has a gap. All daemons together write one entry for one loss.
    const entry = { event: 'record.lost', subject: 'Redis', by: 'daemon', at: clock.now(), reason } as const;
    const lossId = lostHolds === undefined ? gone.map(({ id }) => id).join(' ') : instance;
    await register.audit(entry, hashHex(lossId, 16));
    for (const { policy } of gone) latest.delete(policy.name);
    losses += 1;
    sink.note({ event: 'redis.emptied', reason });
  }

  return {
    /**
     * Checks whether the store still has its data, and remembers the current state. After a data loss it restores what it
     * knows, and reports the loss once. @returns a name that changes with each data loss
     */
    check: (): Promise<string> => {
      // One after the other, so that each check reads the current data.
      const check = checking.then(checkOnce);
      checking = check.catch(() => undefined);
      return check;
    },
    /** The stopped and then lost rollout because of which the policy does not start by itself with this build. */
    stoppedRollout: (policy: string, targetBuild: string): Rollout | undefined => {
      const lost = stopped.get(policy);
      return lost !== undefined && wasStopped(lost, targetBuild) ? lost : undefined;
    },
  };
}

function namesOf({ builds, collectors, groups }: Holds): readonly string[] {
  return [
    ...builds.map(({ build }) => `build ${build}`),
    ...collectors.map(({ collectorId }) => `collector ${collectorId}`),
    ...groups.map(({ label }) => `group ${label}`),
  ];
}

function isMissing(there: readonly Rollout[]): (rollout: Rollout) => boolean {
  const ids = new Set(there.map(({ id }) => id));
  return ({ id }) => !ids.has(id);
}

const checkEveryMs: DurationMs = 1_000;

// By then each daemon has restored what it knows, and creates that were being sent have arrived.
const settledAfterScans = 2;

/**
 * Keeps the memory up to date until the signal is aborted. While Redis is unavailable a check waits.
 * @param discoverWork plans lost rollouts again soon after a loss, without waiting for the schedule (P11)
 */
export async function keepPolling(
  memory: StoreMemory,
  {
    sink,
    sleep,
    discoverWork,
  }: { readonly sink: EventSink; readonly sleep: Sleep; readonly discoverWork: () => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  let name: string | undefined;
  let scansSince = Number.POSITIVE_INFINITY;
  while (!signal.aborted) {
    try {
      const seen = await memory.check();
      scansSince = name === undefined || seen === name ? scansSince + 1 : 0;
      name = seen;
      if (scansSince === settledAfterScans) await discoverWork();
    } catch (error) {
      // When the daemon closes, the connection ends before the check that waits for it.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(checkEveryMs, signal);
  }
}
