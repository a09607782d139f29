import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { FleetCollector } from './collector.ts';

/** What the last good reading of the inventory showed. Later readings are judged by it. */
export interface InventoryBaseline {
  readonly at: EpochMs;
  /** Installed collectors, without ephemeral ones: those come and go by themselves. */
  readonly size: number;
  /** Members of the rollout that were not on it, ephemeral ones aside: it is known that they are gone. */
  readonly missing: number;
  /** When the reading began that ended the last doubt: one that began before it and arrives later proves nothing. */
  readonly trustedAt?: EpochMs;
}

/** One whole reading of the inventory, held against the members of a rollout. */
export interface InventoryCount {
  /** When the reading began. */
  readonly readAt: EpochMs;
  /** Rows of any kind. */
  readonly rows: number;
  readonly size: number;
  /** Members of the rollout, those aside that are ephemeral and not on it. */
  readonly members: number;
  readonly missing: number;
  /** Of the missing ones, those that have not been withdrawn. */
  readonly missingUnexplained: number;
  /** Members that are ephemeral, not on it, and have not been withdrawn. */
  readonly transient: number;
}

/** Why a reading is not believed, with its figures. */
export type Implausible =
  /** No row at all, where collectors are expected. */
  | { readonly kind: 'empty'; readonly expected: number }
  /** More members than a few are missing at once. */
  | { readonly kind: 'manyGone'; readonly missing: number; readonly members: number }
  /** Much shorter than the last good one. */
  | { readonly kind: 'short'; readonly size: number; readonly before: number };

export type InventoryVerdict =
  | { readonly kind: 'plausible' }
  | { readonly kind: 'implausible'; readonly why: Implausible };

/** A reading that is not believed. */
export interface ImplausibleReading {
  /** When the last such reading began. */
  readonly readAt: EpochMs;
  readonly why: Implausible;
  /** What that reading showed: an operator may say that it is the fleet from now on. */
  readonly size: number;
  readonly missing: number;
}

/** Why nothing that the inventory says is believed for now, and since when. */
export interface ImplausibleInventory extends ImplausibleReading {
  readonly since: EpochMs;
  /** The rollout is held for it: its reason says what it means to resume. */
  readonly isHeld?: true;
}

/** After so long a rollout that can't believe the inventory is held: a person has to look after it (P14). */
export const implausibleHoldAfterMs: DurationMs = 30 * 60_000;

/** True once an operator has to say what is true. */
export function isImplausibleTooLong({ since }: ImplausibleInventory, now: EpochMs): boolean {
  return now - since >= implausibleHoldAfterMs;
}

// A person deletes a few collectors at once; a lost role, another tenant or a broken page takes many away.
const fewMin = 3;
const fewShare = 0.02;

// The rest of the account is not ours to know: other teams retire a rack now and then.
const muchShare = 0.1;

// A baseline is replaced no sooner than this, so that readings which shrink little by little are no way around it.
const baselineKeptMs: DurationMs = 15 * 60_000;

// One that shows the same is written down this seldom. Its age shows for how long no reading was good.
const baselineRestatedMs: DurationMs = 60 * 60_000;

// A plan that waits for approval, a rollout that is taken back later, or a nightly one, has no reading for hours or days.
// Machines are retired meanwhile, and not at once: as many again for each of these, up to a tenth.
const fewAgainMs: DurationMs = 6 * 3_600_000;

/** How many of so many collectors may be gone at once: at least one, and at most half of two or more. */
export function fewOf(count: number): number {
  return Math.max(1, Math.min(Math.max(fewMin, Math.ceil(count * fewShare)), Math.floor(count / 2)));
}

/** How many of so many collectors may be gone when the last good reading is so old. */
function goneMax(count: number, ageMs: DurationMs): number {
  const few = fewOf(count);
  const times = 1 + Math.max(0, Math.floor(ageMs / fewAgainMs));
  return Math.max(few, Math.min(few * times, Math.floor(count * muchShare)));
}

/** True when a list is so much shorter than the last good one that it proves nothing (P14). */
export function isMuchShorter(size: number, before: number): boolean {
  return before - size > Math.max(fewOf(before), Math.ceil(before * muchShare));
}

/** Installed collectors that do not come and go by themselves. */
export function countSteady(collectors: ReadonlyArray<Pick<FleetCollector, 'ephemeral'>>): number {
  return collectors.reduce((sum, { ephemeral }) => sum + (ephemeral ? 0 : 1), 0);
}

/**
 * Judges whether a reading of the inventory can be believed (P14). Evaluated in order; the first match wins: an empty
 * list is never believed, since nobody deletes a whole fleet while it is being upgraded.
 * @param baseline undefined for a rollout of an earlier version: what has been withdrawn is taken for gone
 * @param doubtedSince when readings began to be implausible: time alone makes no reading plausible
 */
export function assessInventory(
  seen: InventoryCount,
  baseline: InventoryBaseline | undefined,
  doubtedSince?: EpochMs,
): InventoryVerdict {
  const knownGone = baseline?.missing ?? seen.missing - seen.missingUnexplained;
  const expected = Math.max(0, seen.members - knownGone);
  // Ephemeral ones go one by one, not all at once.
  const listed = Math.max(expected + seen.transient, baseline?.size ?? 0);
  if (seen.rows === 0 && listed > 0) return implausible({ kind: 'empty', expected: listed });
  const missing = seen.missing - knownGone;
  const ageMs = baseline === undefined ? 0 : (doubtedSince ?? seen.readAt) - baseline.at;
  if (missing > goneMax(expected, ageMs))
    return implausible({ kind: 'manyGone', missing, members: expected });
  if (baseline !== undefined && isMuchShorter(seen.size, baseline.size))
    return implausible({ kind: 'short', size: seen.size, before: baseline.size });
  return { kind: 'plausible' };
}

/** The baseline after a good reading: tighter at once, looser only after a while. The same one where nothing changed. */
export function afterGoodReading(
  baseline: InventoryBaseline | undefined,
  { readAt: at, size, missing }: InventoryCount,
): InventoryBaseline {
  if (baseline === undefined || at - baseline.at >= baselineKeptMs) {
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
