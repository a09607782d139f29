import { hashHex } from '../../base/hash.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { type Standstill, standsFor, standstillOf } from '../../rollout/decision/after-data-loss.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { StoreInstance, StoreMarks } from '../ports/store-instance.ts';
import { type Loss, lossWords } from './describe-loss.ts';

/** What a daemon knows of the store, for when the store itself knows nothing any more (P11). */
export interface StoreMemory {
  /**
   * Looks whether the store is the one it was, and remembers what it holds. When it was emptied, it tells so once, and
   * puts back what it still knows before it answers. @returns a name of the store, another one when any part of it is
   */
  look(): Promise<string>;
  /** Why a policy, whose rollout was lost while it stood still, is not begun by itself to this build. */
  refusal(policy: string, targetBuild: string): string | undefined;
}

export interface StoreMemoryParts {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  readonly birth: StoreInstance;
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly policies: readonly string[];
}

interface Known {
  readonly marks: StoreMarks;
  readonly holds: Awaited<ReturnType<FleetRegister['holds']>>;
}

const noHolds: Known['holds'] = { builds: [], collectors: [] };

/** A daemon that has just started knows nothing, so what its first look shows is what there is. */
export function makeStoreMemory(parts: StoreMemoryParts): StoreMemory {
  const { store, register, birth, sink, clock, policies } = parts;
  let known: Known | undefined;
  /** By policy: the newest rollout that takes collectors forward. */
  const latest = new Map<string, Rollout>();
  /** By policy: the id of the newest rollout of either kind; kept through any loss, so that no number comes twice. */
  const newestIds = new Map<string, { readonly id: string; readonly createdAt: number }>();
  const lost = new Map<string, { readonly id: string; readonly standstill: Standstill }>();
  let looking: Promise<unknown> = Promise.resolve();

  async function pollOnce(): Promise<string> {
    // First what there is, then whose it is: a store that was emptied in between is another one by then.
    const rollouts = await readRollouts();
    const holds = await register.holds();
    const marks = await birth.identify(policies);
    const loss = known === undefined ? undefined : lossBetween(known.marks, marks);
    if (known !== undefined && loss !== undefined) await putBack(known.holds, loss, marks);
    known = { marks, holds: known !== undefined && loss?.holds === true ? known.holds : holds };
    for (const rollout of rollouts) {
      if (loss?.policies.includes(rollout.policy.name) !== true) learn(rollout);
    }
    return nameOf(marks);
  }

  /** All there are at first; then those on their way, and those that were when they were seen last. */
  async function readRollouts(): Promise<readonly Rollout[]> {
    if (known === undefined) return store.listRollouts(policies);
    const ids = new Set(await store.activeRolloutIds(policies));
    for (const { id, endedAt } of latest.values()) if (endedAt === null) ids.add(id);
    const rollouts = await Promise.all([...ids].map((id) => store.loadRollout(id)));
    return rollouts.filter((rollout) => rollout !== undefined);
  }

  function learn(rollout: Rollout): void {
    const { id, kind, createdAt } = rollout;
    const policy = rollout.policy.name;
    if (createdAt >= (newestIds.get(policy)?.createdAt ?? 0)) newestIds.set(policy, { id, createdAt });
    if (kind === 'rollback' || createdAt < (latest.get(policy)?.createdAt ?? 0)) return;
    latest.set(policy, rollout);
    // Nothing begins it by itself, so somebody did.
    lost.delete(policy);
  }

  async function putBack(holds: Known['holds'], loss: Loss, marks: StoreMarks): Promise<void> {
    const isGone = ([policy]: readonly [string, unknown]): boolean => loss.policies.includes(policy);
    const gone = [...latest].filter(isGone).map(([, rollout]) => rollout);
    for (const rollout of gone) {
      const standstill = standstillOf(rollout);
      if (standstill !== undefined) lost.set(rollout.policy.name, { id: rollout.id, standstill });
    }
    const takenIds = [...newestIds].filter(isGone).map(([, { id }]) => id);
    const back = loss.holds ? holds : noHolds;
    await birth.putBack({ holdsMark: marks.holds, ...back, takenIds });
    const still = [...lost].filter(isGone).map(([, standstill]) => standstill);
    const reason = lossWords(gone, { loss, holds: back, still });
    // Whoever asks for the audit later is to see why it begins here, or that rollouts are missing.
    const entry = { event: 'record.lost', subject: 'Redis', by: 'daemon', at: clock.now(), reason } as const;
    await register.audit(entry, hashHex(nameOf(marks), 16));
    for (const { policy } of gone) latest.delete(policy.name);
    sink.note({ event: 'redis.emptied', reason });
  }

  return {
    look: () => {
      // One after the other: each must see what there is when it is asked for.
      const look = looking.then(pollOnce);
      looking = look.catch(() => undefined);
      return look;
    },
    refusal: (policy, targetBuild) => {
      const found = lost.get(policy);
      if (found === undefined || !standsFor(found.standstill, targetBuild)) return undefined;
      return `Redis was emptied, and ${found.id} ${found.standstill.words}; only an operator starts it again: upwave start ${policy}`;
    },
  };
}

/** undefined: all that is known is still there. */
function lossBetween(before: StoreMarks, after: StoreMarks): Loss | undefined {
  // One that is no longer in the config is not looked for.
  const lost = [...before.policies].flatMap(([policy, mark]) => {
    const now = after.policies.get(policy);
    return now === undefined || now === mark ? [] : [policy];
  });
  const isHoldsLost = before.holds !== after.holds;
  if (!isHoldsLost && lost.length === 0) return undefined;
  return { holds: isHoldsLost, policies: lost, isAll: isHoldsLost && lost.length === before.policies.size };
}

function nameOf({ whole, holds, policies }: StoreMarks): string {
  return [whole, holds, ...policies.values()].join(' ');
}

const lookEveryMs: DurationMs = 1_000;

// By then each daemon has put back what it knows, and a create that was just leaving has arrived.
const settledAfterScans = 2;

/**
 * Keeps a memory fresh until the signal is aborted. Redis may keep a look waiting for as long as it is away.
 * @param discoverWork what runs is planned anew soon after a loss, not at the next tick of a schedule (P11)
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
      const seen = await memory.look();
      scansSince = name === undefined || seen === name ? scansSince + 1 : 0;
      name = seen;
      if (scansSince === settledAfterScans) await discoverWork();
    } catch (error) {
      // At the end the connection goes before a look that waits for it does.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(lookEveryMs, signal);
  }
}
