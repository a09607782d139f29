import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { FleetCollector } from './collector.ts';

/** The last plausible reading of the inventory, with which later readings are compared. */
export interface InventoryBaseline {
  readonly at: EpochMs;
  /** Number of installed collectors, without ephemeral ones, which come and go by themselves. */
  readonly size: number;
  /** Number of non-ephemeral members of the rollout that it lacked, and that are known to have left the fleet. */
  readonly missing: number;
  /** When the first plausible reading after an implausible one began. A reading that began earlier is ignored. */
  readonly trustedAt?: EpochMs;
}

/** A complete reading of the inventory, compared with the members of a rollout. */
export interface InventoryCount {
  /** When the reading began. */
  readonly readAt: EpochMs;
  /** Rows of any kind. */
  readonly rows: number;
  readonly size: number;
  /** Members of the rollout, without missing ephemeral ones. */
  readonly members: number;
  readonly missing: number;
  /** Missing members that have not been withdrawn. */
  readonly missingUnexplained: number;
  /** Missing ephemeral members that have not been withdrawn. */
  readonly transient: number;
}

/** Why a reading is implausible, with its figures. */
export type Implausible =
  /** No rows, although collectors are expected. */
  | { readonly kind: 'empty'; readonly expected: number }
  /** Too many members disappeared at once. */
  | { readonly kind: 'manyGone'; readonly missing: number; readonly members: number }
  /** Much shorter than the last plausible reading. */
  | { readonly kind: 'short'; readonly size: number; readonly before: number };

export type InventoryVerdict =
  | { readonly kind: 'plausible' }
  | { readonly kind: 'implausible'; readonly why: Implausible };

/** An implausible reading. */
export interface ImplausibleReading {
  /** When the last such reading began. */
  readonly readAt: EpochMs;
  readonly why: Implausible;
  /** Figures of that reading. An operator may accept them as the new fleet. */
  readonly size: number;
  readonly missing: number;
}

/** Why the inventory is currently implausible, and since when. */
export interface ImplausibleInventory extends ImplausibleReading {
  readonly since: EpochMs;
  /** The rollout is held for it, and its reason tells what a resume means. */
  readonly isHeld?: true;
}

/** How long a rollout waits for a plausible inventory before it is held for a person to decide (P14). */
export const implausibleHoldAfterMs: DurationMs = 30 * 60_000;

/** True once the rollout has to be held, because an operator has to decide. */
export function isImplausibleTooLong({ since }: ImplausibleInventory, now: EpochMs): boolean {
  return now - since >= implausibleHoldAfterMs;
}

// A person deletes a few collectors at once. A lost role, another tenant or a broken page makes many disappear.
const fewMin = 3;
const fewShare = 0.02;

// Other teams may retire a rack of the account's other collectors at any time.
const muchShare = 0.1;

// A baseline is kept for at least this long, so that a gradually shrinking inventory is noticed.
const baselineKeptMs: DurationMs = 15 * 60_000;

// An unchanged baseline is stored again at this interval. Its age shows how long no reading was plausible.
const baselineRestatedMs: DurationMs = 60 * 60_000;

// Some rollouts go without a reading for hours or days, such as a plan that waits for approval. Collectors are retired
// meanwhile, so the limit grows by the same number for each of these periods, up to a tenth of the collectors.
const fewAgainMs: DurationMs = 6 * 3_600_000;

/** How many of `count` collectors may disappear at once: at least one, and at most half of two or more. */
export function fewOf(count: number): number {
  return Math.max(1, Math.min(Math.max(fewMin, Math.ceil(count * fewShare)), Math.floor(count / 2)));
}

/** How many of `count` collectors may have disappeared since a plausible reading of this age. */
function goneMax(count: number, ageMs: DurationMs): number {
  const few = fewOf(count);
  const times = 1 + Math.max(0, Math.floor(ageMs / fewAgainMs));
  return Math.max(few, Math.min(few * times, Math.floor(count * muchShare)));
}

/** True if a list is so much shorter than the last plausible one that it is no evidence (P14). */
export function isMuchShorter(size: number, before: number): boolean {
  return before - size > Math.max(fewOf(before), Math.ceil(before * muchShare));
}

/** Counts collectors without ephemeral ones. */
export function countSteady(collectors: ReadonlyArray<Pick<FleetCollector, 'ephemeral'>>): number {
  return sumOf(collectors, ({ ephemeral }) => (ephemeral ? 0 : 1));
}

/**
 * Judges whether a reading of the inventory is plausible (P14). Evaluated in order; the first match wins. An empty list is
 * never plausible, because nobody deletes a whole fleet during its upgrade.
 * @param baseline null for a rollout whose record was unreadable: withdrawn collectors count as gone
 * @param implausibleSince when readings became implausible: passing time must not make them plausible
 */
export function assessInventory(
  seen: InventoryCount,
  baseline: InventoryBaseline | null,
  implausibleSince?: EpochMs,
): InventoryVerdict {
  const knownGone = baseline?.missing ?? seen.missing - seen.missingUnexplained;
  const expected = Math.max(0, seen.members - knownGone);
  // Ephemeral collectors disappear one by one, not all at once.
  const listed = Math.max(expected + seen.transient, baseline?.size ?? 0);
  if (seen.rows === 0 && listed > 0) return implausible({ kind: 'empty', expected: listed });
  const missing = seen.missing - knownGone;
  const ageMs = baseline === null ? 0 : (implausibleSince ?? seen.readAt) - baseline.at;
  if (missing > goneMax(expected, ageMs))
    return implausible({ kind: 'manyGone', missing, members: expected });
  if (baseline !== null && isMuchShorter(seen.size, baseline.size))
    return implausible({ kind: 'short', size: seen.size, before: baseline.size });
  return { kind: 'plausible' };
}

/** The baseline after a plausible reading: stricter at once, less strict only after `baselineKeptMs`. */
export function afterGoodReading(
  baseline: InventoryBaseline | null,
  { readAt: at, size, missing }: InventoryCount,
): InventoryBaseline {
  if (baseline === null || at - baseline.at >= baselineKeptMs) {
    const isSame = baseline?.size === size && baseline.missing === missing;
    const isKept = isSame && at - baseline.at <= baselineRestatedMs;
    return isKept ? baseline : { at, size, missing };
  }
  if (size <= baseline.size && missing >= baseline.missing) return baseline;
  return {
    ...baseline,
    size: Math.max(size, baseline.size),
    missing: Math.min(missing, baseline.missing),
  };
}

function implausible(why: Implausible): InventoryVerdict {
  return { kind: 'implausible', why };
}
