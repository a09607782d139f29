import { seededChance } from '../../base/chance.ts';
import { groupBy } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutState } from '../../base/vocabulary.ts';
import type { AttemptResult, UpgradeBody } from '../../contract/admin/rollout-status.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { isFailed } from '../../rollout/model/upgrade.ts';
import { type Fate, type FateEnd, type FateOf, hashNumbers } from './fates.ts';

/** A past rollout to play again, as plain data. */
export interface PastNight {
  readonly rolloutId: string;
  readonly state: RolloutState;
  /** The attempts of each collector whose result is known, oldest first. */
  readonly fates: ReadonlyMap<number, readonly Fate[]>;
  /** The label of the stratum of each collector. */
  readonly strata: ReadonlyMap<number, string>;
  /** Collectors that failed for good, and that were upgraded. */
  readonly harmed: number;
  readonly upgraded: number;
}

/** A collector in a past rollout. */
export type PastMember = Pick<
  UpgradeBody,
  'collectorId' | 'stratum' | 'state' | 'fromBuild' | 'startedAt' | 'results'
>;

/** When the end of a task was seen. */
export interface SeenTaskEnd {
  readonly at: EpochMs;
  /** The maximum delay after which it was seen. */
  readonly seenDelayMs: DurationMs;
}

/** By collector and number of the attempt, as far as they are known. */
export type SeenTaskEnds = ReadonlyMap<string, SeenTaskEnd>;

/** The key in `SeenTaskEnds`. */
export const taskEndKey = (collectorId: number, attempt: number): string => `${collectorId}/${attempt}`;

/** A task shows its first step after seconds, and none ends before that. */
const shortestMs: DurationMs = 6_000;

/** A task that had not ended at its deadline does not end while it is played again. */
const unendingMs: DurationMs = 30 * 24 * 3_600_000;

/** Reads what happened to each collector of a past rollout. */
export function readPastNight(
  { id, state }: { readonly id: string; readonly state: RolloutState },
  members: readonly PastMember[],
  taskEnds: SeenTaskEnds,
): PastNight {
  const usual = usualTimes(members, taskEnds);
  const fates = new Map<number, readonly Fate[]>();
  for (const { collectorId, results = [] } of members) {
    const own = results.flatMap(
      (result, index) => fateOf(result, taskEnds.get(taskEndKey(collectorId, index + 1)), usual) ?? [],
    );
    if (own.length > 0) fates.set(collectorId, own);
  }
  return {
    ...{ rolloutId: id, state, fates },
    strata: new Map(members.map(({ collectorId, stratum }) => [collectorId, stratum])),
    harmed: [...fates.values()].filter(isBroken).length,
    upgraded: members.filter((each) => each.state === 'succeeded').length,
  };
}

/**
 * The course of each upgrade as in that rollout. A further attempt ends like the last one. A collector that was not started
 * takes the course of another one of its stratum, by chance; of any, if none of its stratum was started.
 */
export function drawPastFates(
  { fates, strata }: PastNight,
  seed: number,
): { readonly broken: ReadonlySet<number>; readonly fateOf: FateOf } {
  const ofStratum = groupBy([...fates.keys()], (id) => strata.get(id));
  const all = [...fates.keys()];
  const drawn = new Map<number, readonly Fate[]>();
  for (const [id, label] of strata) {
    const alike = ofStratum.get(label) ?? all;
    const chance = seededChance(hashNumbers(seed, id, 0))();
    const own = fates.get(fates.has(id) ? id : (alike[Math.floor(chance * alike.length)] ?? id));
    if (own !== undefined) drawn.set(id, own);
  }
  const fateOf: FateOf = (collectorId, attempt) => {
    const own = drawn.get(collectorId) ?? [];
    const fate = own[attempt - 1] ?? own.at(-1);
    if (fate === undefined) throw new Error(`collector ${collectorId} has no past`);
    return fate;
  };
  return { broken: new Set([...drawn].flatMap(([id, own]) => (isBroken(own) ? [id] : []))), fateOf };
}

function isBroken(own: readonly Fate[]): boolean {
  return own.at(-1)?.ends.kind !== 'succeeded';
}

interface UsualTimes {
  /** From the end of a task until it was verified. */
  readonly verifyMs: DurationMs;
  readonly taskMs: DurationMs;
}

function usualTimes(members: readonly PastMember[], taskEnds: SeenTaskEnds): UsualTimes {
  const successes = members.flatMap(({ collectorId, results = [] }) => {
    const last = results.at(-1);
    if (last?.state !== 'succeeded' || last.endedAt === null) return [];
    const seen = taskEnds.get(taskEndKey(collectorId, results.length));
    return [{ tookMs: last.endedAt - last.startedAt, verifyMs: seen && last.endedAt - seen.at }];
  });
  const verifyMs = median(successes.flatMap((each) => each.verifyMs ?? [])) ?? serviceLimits.heartbeatMs;
  const tookMs = median(successes.map((each) => each.tookMs)) ?? 0;
  return { verifyMs, taskMs: Math.max(shortestMs, tookMs - verifyMs) };
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** @returns undefined where the result is unknown: the upgrade was given up, or somebody else did it */
function fateOf(
  { startedAt, endedAt, state, reasonKind, detail, silentMs }: AttemptResult,
  seen: SeenTaskEnd | undefined,
  usual: UsualTimes,
): Fate | undefined {
  if (endedAt === null) return undefined;
  const tookMs = endedAt - startedAt;
  const seenMs = seen && seen.at - startedAt - seen.seenDelayMs / 2;
  const fate = (durationMs: DurationMs, ends: FateEnd): Fate => ({
    durationMs: Math.max(shortestMs, Math.round(durationMs)),
    ends,
  });
  if (state === 'succeeded') return fate(seenMs ?? tookMs - usual.verifyMs, { kind: 'succeeded' });
  if (state !== 'retrying' && !isFailed(state)) return undefined;
  const taskMs = seenMs ?? Math.min(tookMs, usual.taskMs);
  switch (reasonKind) {
    case 'noEnd':
    case 'endUnseen':
      return fate(unendingMs, { kind: 'failed', message: '' });
    case 'notBack':
    case 'returnUnseen':
    case 'otherBuild':
      return fate(taskMs, { kind: 'lost' });
    case 'died': {
      const diedMs = tookMs - (silentMs ?? serviceLimits.deadAfterMs);
      return fate(taskMs, { kind: 'dies', afterMs: Math.max(0, diedMs - taskMs) });
    }
    case 'leftBuild':
    case 'wentSilent':
    case 'vanished':
      return fate(taskMs, { kind: 'dies', afterMs: Math.max(0, tookMs - taskMs) });
    case 'unwatched':
      return undefined;
    default:
      return fate(seenMs ?? tookMs, { kind: 'failed', message: detail ?? '' });
  }
}
