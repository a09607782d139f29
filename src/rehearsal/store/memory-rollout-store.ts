import type { EpochMs } from '../../base/time.ts';
import type { FrozenPlan, RolloutStore, UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import { joinTables } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { holdsSlot, type Upgrade, weightOf } from '../../rollout/model/upgrade.ts';
import { changedAtOf } from '../../rollout/model/upgrade-figures.ts';
import { activeKey, type Kept, makeMemoryReads } from './memory-reads.ts';
import { makeMemoryTally } from './memory-tally.ts';

export interface MemoryRolloutStore extends RolloutStore {
  peek(rolloutId: string, collectorId: number): Upgrade | undefined;
  /** Stores a step that changes no state, without events and brake. */
  swap(before: Upgrade, after: Upgrade): void;
  /** Loses every rollout, like a store with data loss, but not the numbers of rollouts, which daemons restore. */
  forget(): void;
  /** @returns a function that restores the present state, whatever is written until then */
  keep(): () => void;
}

interface TransitionCall {
  readonly mode: 'save' | 'intent' | 'admit' | 'rejoin';
  readonly rolloutRev?: number | undefined;
  readonly tripAbove?: number | null | undefined;
  /** The guard of a write of many upgrades, checked once for all. */
  readonly isRefused?: boolean;
  readonly hasRoom?: (of: Kept) => boolean;
}

/**
 * An in-memory model of the store in Redis with the same results, for virtual time. Counts are updated with each change, so
 * that thousands of nights can be simulated in a minute.
 * @param now its own clock, as Redis has one
 * @param keepsEvents false when events are not read, as in thousands of rehearsed rollouts
 */
// oxlint-disable-next-line max-lines-per-function -- a model in memory: its methods share one state
export function makeMemoryRolloutStore(
  now: () => EpochMs = Date.now,
  keepsEvents = true,
): MemoryRolloutStore {
  const kept = new Map<string, Kept>();
  const active = new Map<string, string>();
  const numbers = new Map<string, number>();
  const fences = new Map<string, number>();

  const keyOf = (rollout: Rollout) => activeKey(parseRolloutId(rollout.id).policy, rollout.kind);
  const isFenced = (rolloutId: string, fence: number | null): boolean => {
    if (fence === null) return false;
    const { policy } = parseRolloutId(rolloutId);
    const seen = fences.get(policy) ?? 0;
    fences.set(policy, Math.max(seen, fence));
    return fence < seen;
  };
  const noteIntent = (
    { intents }: Kept,
    { progress: { state }, identity: { collectorId } }: Upgrade,
    isNew: boolean,
  ) => {
    if (state !== 'starting') intents.delete(collectorId);
    else if (isNew || !intents.has(collectorId)) intents.set(collectorId, now());
  };
  const keepEvents = (of: Kept, events: readonly RolloutEvent[]) => {
    if (keepsEvents) of.events.push(...events);
  };
  const install = (
    before: Pick<Kept, 'events' | 'brake' | 'intents'>,
    { rollout, upgrades, groups, attributes, events }: FrozenPlan,
  ): Kept => {
    const of: Kept = Object.assign(before, {
      ...{ rollout, groups, attributes, tally: makeMemoryTally() },
      upgrades: new Map(upgrades.map((upgrade) => [upgrade.identity.collectorId, upgrade])),
    });
    of.intents.clear();
    for (const upgrade of upgrades) {
      of.tally.add(upgrade);
      noteIntent(of, upgrade, true);
      if ('endedAt' in upgrade.progress) of.tally.replace(upgrade, upgrade, upgrade.progress.endedAt);
    }
    keepEvents(of, events);
    return of;
  };

  /** The same rules in the same order as in Redis, except for commands that were sent twice, which do not occur here. */
  const transition = (change: UpgradeChange, call: TransitionCall): 'saved' | 'stale' | 'braked' => {
    const { before, after, events } = change;
    const of = kept.get(after.identity.rolloutId);
    const current = of?.upgrades.get(after.identity.collectorId);
    if (of === undefined || current === undefined) return 'stale';
    const isRepeated = call.mode !== 'intent' && isSame(current, after);
    const isOfBefore = current.rev === before.rev && current.progress.state === before.progress.state;
    if (!isRepeated && !isOfBefore) return 'stale';
    const isRunning = of.rollout.state === 'running' && !of.brake;
    const isAsDecided = call.rolloutRev === undefined || of.rollout.rev === call.rolloutRev;
    if (call.mode === 'intent' && !isRunning) return 'braked';
    if (call.mode === 'intent' && !isAsDecided) return 'stale';
    if (isRepeated) return 'saved';
    if (call.isRefused || (call.mode === 'rejoin' && !isAsDecided)) return 'stale';
    if (call.mode === 'admit' && !(isRunning && isAsDecided && call.hasRoom?.(of))) return 'stale';
    of.upgrades.set(after.identity.collectorId, after);
    noteIntent(of, after, call.mode === 'intent');
    of.tally.replace(before, after, changedAtOf(change));
    keepEvents(of, events);
    const isWorse = weightOf(after) > weightOf(before);
    const above = call.tripAbove ?? Number.POSITIVE_INFINITY;
    if (isWorse && !of.brake && of.tally.waveWeight(after.identity.wave) > above) {
      of.brake = true;
      of.rollout = { ...of.rollout, rev: of.rollout.rev + 1 };
    }
    return 'saved';
  };
  /** @returns the collectors whose change was saved */
  const transitionAll = <Change extends UpgradeChange>(
    changes: readonly Change[],
    callOf: (change: Change) => TransitionCall,
  ): number[] =>
    changes
      .filter((change) => transition(change, callOf(change)) === 'saved')
      .map(({ after }) => after.identity.collectorId);

  return {
    forget: () => {
      kept.clear();
      active.clear();
      fences.clear();
    },
    peek: (rolloutId, collectorId) => kept.get(rolloutId)?.upgrades.get(collectorId),
    swap: (before, after) => {
      const of = kept.get(after.identity.rolloutId);
      of?.upgrades.set(after.identity.collectorId, after);
      of?.tally.replace(before, after, undefined);
    },
    keep: () => {
      const was = [...kept].map(([id, of]) => ({
        id,
        of,
        ...of,
        upgrades: [...of.upgrades],
        intents: [...of.intents],
        eventCount: of.events.length,
      }));
      const others = [active, numbers, fences].map((map) => ({
        map: map as Map<string, unknown>,
        entries: [...map],
      }));
      return () => {
        kept.clear();
        for (const { id, of, rollout, groups, attributes, upgrades, brake, intents, eventCount } of was) {
          of.events.splice(eventCount);
          install(of, {
            ...{ rollout, groups, upgrades: upgrades.map(([, upgrade]) => upgrade), events: [] },
            ...(attributes === undefined ? {} : { attributes }),
          });
          of.brake = brake;
          of.intents.clear();
          for (const [collectorId, at] of intents) of.intents.set(collectorId, at);
          kept.set(id, of);
        }
        for (const { map, entries } of others) {
          map.clear();
          for (const [key, value] of entries) map.set(key, value);
        }
      };
    },
    ...makeMemoryReads({ kept, active, numbers, now }),
    freeze: async (frozen) => {
      const { rollout } = frozen;
      if (active.has(keyOf(rollout)) || kept.has(rollout.id)) return 'busy';
      const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
      active.set(keyOf(rollout), rollout.id);
      numbers.set(`${policy}/${yyyymmdd}`, Math.max(number, numbers.get(`${policy}/${yyyymmdd}`) ?? 0));
      kept.set(rollout.id, install({ events: [], brake: false, intents: new Map() }, frozen));
      return 'frozen';
    },
    replan: async (frozen, expectedRev) => {
      const of = kept.get(frozen.rollout.id);
      if (of === undefined) return 'stale';
      if (isSame(of.rollout, frozen.rollout) && isSame(of.groups, frozen.groups)) return 'saved';
      if (of.rollout.rev !== expectedRev || of.rollout.state !== 'awaitingApproval') return 'stale';
      install(of, frozen);
      return 'saved';
    },
    join: async ({ rollout, upgrades, groups, attributes, events }, expectedRev, fence) => {
      const of = kept.get(rollout.id);
      if (of === undefined) return 'stale';
      if (isSame(of.rollout, rollout) && isSame(of.groups, groups)) return 'saved';
      if (isFenced(rollout.id, fence) || of.rollout.rev !== expectedRev) return 'stale';
      for (const upgrade of upgrades) {
        if (of.upgrades.has(upgrade.identity.collectorId)) continue;
        of.upgrades.set(upgrade.identity.collectorId, upgrade);
        of.tally.add(upgrade);
      }
      of.rollout = rollout;
      of.groups = groups;
      of.attributes = joinTables([of.attributes, attributes].filter((table) => table !== undefined));
      keepEvents(of, events);
      return 'saved';
    },
    rejoin: async (rolloutId, changes, rolloutRev) => {
      const of = kept.get(rolloutId);
      if (of === undefined) return [];
      const asTheyWere = new Map(of.upgrades);
      const ids = transitionAll(changes, () => ({ mode: 'rejoin', rolloutRev }));
      if (ids.some((each) => of.upgrades.get(each) !== asTheyWere.get(each)))
        of.rollout = { ...of.rollout, rev: of.rollout.rev + 1 };
      return ids;
    },
    saveRollout: async ({ rollout, expectedRev, events, brake }, fence) => {
      const of = kept.get(rollout.id);
      if (of === undefined) return 'stale';
      if (isSame(of.rollout, rollout)) return 'saved';
      if (isFenced(rollout.id, fence) || of.rollout.rev !== expectedRev) return 'stale';
      const current = active.get(keyOf(rollout));
      const isReopened = of.rollout.endedAt !== null && rollout.endedAt === null;
      if (isReopened && current !== undefined && current !== rollout.id) return 'stale';
      of.rollout = rollout;
      keepEvents(of, events);
      if (brake !== 'keep') of.brake = brake === 'set';
      if (isReopened) active.set(keyOf(rollout), rollout.id);
      if (rollout.endedAt !== null && current === rollout.id) active.delete(keyOf(rollout));
      return 'saved';
    },
    admit: async ({ rolloutId, rolloutRev, slots, domains, changes }, fence) => {
      const isOutdated = isFenced(rolloutId, fence);
      return transitionAll(changes, ({ before, after }) => {
        const more = Number(holdsSlot(after.progress.state)) - Number(holdsSlot(before.progress.state));
        const hasRoom = ({ tally }: Kept) =>
          !isOutdated &&
          tally.slotsTaken + more <= slots &&
          after.identity.domains.every(
            (index) => tally.domainTaken(index) + more <= (domains[index]?.cap ?? 0),
          );
        return { mode: 'admit', rolloutRev, hasRoom };
      });
    },
    saveUpgrade: async (change, tripAbove) =>
      transition(change, { mode: 'save', tripAbove }) === 'saved' ? 'saved' : 'stale',
    saveUpgrades: async (rolloutId, changes, { rolloutRev, fence = null }) => {
      const isFencedOff = isFenced(rolloutId, fence);
      const isRefused =
        isFencedOff || (rolloutRev ?? kept.get(rolloutId)?.rollout.rev) !== kept.get(rolloutId)?.rollout.rev;
      return transitionAll(changes, ({ tripAbove }) => ({ mode: 'save', tripAbove, isRefused }));
    },
    packEnded: async () => undefined,
    repair: async () => [],
    saveIntent: async (change, rolloutRev) => transition(change, { mode: 'intent', rolloutRev }),
  };
}

/** Different revs save the comparison. */
function isSame(a: object, b: object): boolean {
  if (a === b) return true;
  if ('rev' in a && 'rev' in b && a.rev !== b.rev) return false;
  return JSON.stringify(a) === JSON.stringify(b);
}
