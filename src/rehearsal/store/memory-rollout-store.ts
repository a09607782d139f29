import type { EpochMs } from '../../base/time.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { joinTables } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { MemoryQueues } from './memory-queues.ts';
import { makeRolloutReads, makeUpgradeReads } from './memory-reads.ts';
import { activeKey, isSame, type Kept, type KeptEvents, MemoryState } from './memory-state.ts';
import { makeUpgradeWrites } from './memory-upgrade-writes.ts';

export interface MemoryRolloutStore extends RolloutStore {
  peek(rolloutId: string, collectorId: number): Upgrade | undefined;
  /** Stores a step that changes no state, without events and brake. */
  swap(before: Upgrade, after: Upgrade): void;
  /** Loses every rollout, like a store with data loss, but not the numbers of rollouts, which daemons restore. */
  forget(): void;
  /** @returns a function that restores the present state, whatever is written until then */
  keep(): () => void;
  /** All that it keeps now, as data. */
  image(): StoreImage;
  /** Replaces all that it keeps. */
  restore(image: StoreImage): void;
}

/** All that the model of the store keeps. */
export interface StoreImage {
  readonly rollouts: ReadonlyArray<
    Pick<Kept, 'rollout' | 'groups' | 'attributes' | 'brake' | 'counts'> & {
      readonly upgrades: readonly Upgrade[];
      readonly intents: ReadonlyArray<readonly [number, EpochMs]>;
      readonly events: readonly RolloutEvent[];
    }
  >;
  readonly active: ReadonlyArray<readonly [string, string]>;
  readonly numbers: ReadonlyArray<readonly [string, number]>;
  readonly fences: ReadonlyArray<readonly [string, number]>;
}

/**
 * An in-memory model of the store in Redis with the same results, for virtual time. Counts are updated with each change, so
 * that thousands of nights can be simulated in a minute.
 * @param now its own clock, as Redis has one
 */
export function makeMemoryRolloutStore(
  now: () => EpochMs = Date.now,
  keptEvents: KeptEvents = 'all',
): MemoryRolloutStore {
  const state = new MemoryState(now, keptEvents);
  const { kept, active, fences } = state;
  return {
    ...makeRolloutReads(state),
    ...makeUpgradeReads(state),
    ...makeRolloutWrites(state),
    ...makeUpgradeWrites(state),
    peek: (rolloutId, collectorId) => kept.get(rolloutId)?.upgrades.get(collectorId),
    swap: (before, after) => {
      const stored = kept.get(after.identity.rolloutId);
      if (stored !== undefined) state.replaceUpgrade(stored, before, after);
    },
    forget: () => {
      for (const map of [kept, active, fences]) map.clear();
    },
    keep: () => {
      const image = imageOf(state);
      return () => restore(state, image);
    },
    image: () => imageOf(state),
    restore: (image) => restore(state, image),
  };
}

/** Changes whole rollouts in the model of the store. */
function makeRolloutWrites(state: MemoryState) {
  const { kept, active, numbers } = state;
  const keyOf = ({ id, kind }: Rollout) => activeKey(parseRolloutId(id).policy, kind);
  return {
    freeze: async (frozen) => {
      const { rollout } = frozen;
      if (active.has(keyOf(rollout)) || kept.has(rollout.id)) return 'busy';
      const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
      active.set(keyOf(rollout), rollout.id);
      numbers.set(`${policy}/${yyyymmdd}`, Math.max(number, numbers.get(`${policy}/${yyyymmdd}`) ?? 0));
      state.install(frozen);
      return 'frozen';
    },
    replan: async (frozen, expectedRev) => {
      const stored = kept.get(frozen.rollout.id);
      if (stored === undefined) return 'stale';
      if (isSame(stored.rollout, frozen.rollout) && isSame(stored.groups, frozen.groups)) return 'saved';
      if (stored.rollout.rev !== expectedRev || stored.rollout.state !== 'awaitingApproval') return 'stale';
      state.install(frozen);
      return 'saved';
    },
    join: async ({ rollout, upgrades, groups, attributes, events }, expectedRev, fence) => {
      const stored = kept.get(rollout.id);
      if (stored === undefined) return 'stale';
      if (isSame(stored.rollout, rollout) && isSame(stored.groups, groups)) return 'saved';
      if (state.isFenced(rollout.id, fence) || stored.rollout.rev !== expectedRev) return 'stale';
      for (const upgrade of upgrades)
        if (!stored.upgrades.has(upgrade.identity.collectorId)) state.addUpgrade(stored, upgrade);
      stored.rollout = rollout;
      stored.groups = groups;
      stored.attributes = joinTables([stored.attributes, attributes].filter((table) => table !== undefined));
      state.addEvents(stored, events);
      return 'saved';
    },
    saveRollout: async ({ rollout, expectedRev, events, brake }, fence) => {
      const stored = kept.get(rollout.id);
      if (stored === undefined) return 'stale';
      if (isSame(stored.rollout, rollout)) return 'saved';
      if (state.isFenced(rollout.id, fence) || stored.rollout.rev !== expectedRev) return 'stale';
      const current = active.get(keyOf(rollout));
      const isReopened = stored.rollout.endedAt !== null && rollout.endedAt === null;
      if (isReopened && current !== undefined && current !== rollout.id) return 'stale';
      stored.rollout = rollout;
      state.addEvents(stored, events);
      if (brake !== 'keep') stored.brake = brake === 'set';
      if (isReopened) active.set(keyOf(rollout), rollout.id);
      if (rollout.endedAt !== null && current === rollout.id) active.delete(keyOf(rollout));
      return 'saved';
    },
    packEnded: async () => undefined,
  } satisfies Partial<RolloutStore>;
}

function imageOf({ kept, active, numbers, fences }: MemoryState): StoreImage {
  const rollouts = Array.from(
    kept.values(),
    ({ rollout, groups, attributes, brake, counts, upgrades, intents, events }) => ({
      ...{ rollout, groups, attributes, brake },
      counts: counts.copy(),
      upgrades: [...upgrades.values()],
      intents: [...intents],
      events: [...events],
    }),
  );
  return { rollouts, active: [...active], numbers: [...numbers], fences: [...fences] };
}

function restore(state: MemoryState, image: StoreImage): void {
  state.kept.clear();
  for (const { counts, upgrades, intents, events, ...stored } of image.rollouts) {
    const queues = new MemoryQueues();
    for (const upgrade of upgrades) queues.place(upgrade);
    const byId = new Map(upgrades.map((upgrade) => [upgrade.identity.collectorId, upgrade]));
    const own = { counts: counts.copy(), events: [...events] };
    state.kept.set(stored.rollout.id, {
      ...stored,
      ...own,
      queues,
      upgrades: byId,
      intents: new Map(intents),
    });
  }
  replaceAll(state.active, image.active);
  replaceAll(state.numbers, image.numbers);
  replaceAll(state.fences, image.fences);
}

function replaceAll<Value>(map: Map<string, Value>, entries: ReadonlyArray<readonly [string, Value]>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
