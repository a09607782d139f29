import { seededChance } from '../../base/chance.ts';
import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { dayMs, findTimeZone, utc } from '../../base/time-zone.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { countLeftOut, type LeftOutCount } from '../../rollout/model/left-out.ts';
import type { Selector } from '../../rollout/model/policy.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { compileMatch } from '../../rollout/planning/selector.ts';
import {
  type FateEnd,
  type FateOf,
  hashNumbers,
  makeFates,
  type UsualCourse,
  unknownMessage,
} from './fates.ts';
import type { Disturbance } from './virtual-budget.ts';

/** The assumptions of a rehearsal about the build, the service and people. */
export interface WhatIf extends UsualCourse {
  readonly durationsFrom?: DurationsFrom;
  readonly breaks: readonly Break[];
  readonly disturbances: readonly Disturbance[];
  /** By the name of a gate. Others pass. */
  readonly gates: Readonly<Record<string, GateWord>>;
  readonly approval: Approval;
  /** Collectors that are down at the beginning and are up again later; absent: none. */
  readonly upAgain?: UpAgain;
  /** Collectors that are installed later; absent: none. */
  readonly installed?: Installed;
}

/** This share of the collectors that are down, from 0 to 1, is up again at any instant within that time. */
export interface UpAgain {
  readonly share: number;
  readonly withinMs: DurationMs;
}

/** So many collectors are installed, each at any instant within that time. */
export interface Installed {
  readonly count: number;
  readonly withinMs: DurationMs;
}

/** Where the durations come from: `upgrade.expect` of the policy, the what-if file, or an earlier rollout. */
export type DurationsFrom =
  | { readonly kind: 'expect' }
  | { readonly kind: 'file' }
  /** `strata`: how many of the plan have durations of their own, `strataTotal`: how many it has. */
  | {
      readonly kind: 'rollout';
      readonly id: string;
      readonly strata: number;
      readonly strataTotal: number;
    };

/** Collectors that the build breaks. */
export interface Break {
  /** Keys as in `select.include`. Default: all collectors. */
  readonly match?: Selector;
  /** The share of the matching collectors, from 0 to 1. */
  readonly share: number;
  /** `fails`: the task fails. `neverReturns`: the collector does not come back after it. `dies`: it dies later. */
  readonly how: 'fails' | 'neverReturns' | 'dies';
  /** For `dies`: how long after the upgrade. */
  readonly afterMs: DurationMs;
}

/** The constant result of a gate; `silent`: it is unreachable. */
export type GateWord = 'pass' | 'hold' | 'silent';

/** When a person approves; `at`: at that minute of the day. */
export type Approval =
  | { readonly kind: 'atOnce' }
  | { readonly kind: 'never' }
  | { readonly kind: 'at'; readonly minute: number; readonly timeZone: string };

/** Draws which collectors the build breaks, and the course of each upgrade. The same seed gives the same result. */
export function drawFates(
  whatIf: WhatIf,
  collectors: readonly FleetCollector[],
  seed: number,
): { readonly broken: ReadonlySet<number>; readonly fateOf: FateOf } {
  const ends = new Map<number, FateEnd>();
  whatIf.breaks.forEach((each, index) => {
    const matches = compileMatch(each.match);
    for (const collector of collectors) {
      if (ends.has(collector.id) || !matches(collector)) continue;
      const isBroken =
        each.share >= 1 || seededChance(hashNumbers(seed, collector.id, ~index))() < each.share;
      if (isBroken) ends.set(collector.id, endOf(each));
    }
  });
  return { broken: new Set(ends.keys()), fateOf: makeFates(seed, whatIf, (id) => ends.get(id)) };
}

// Neither an attempt nor a break has this number, so what is drawn is independent of how the upgrade goes.
const upAgainNumber = 1_000_000;

/** Draws when collectors that are down are up again, by id. The same seed gives the same result. */
export function drawUpAgain(
  { upAgain }: Pick<WhatIf, 'upAgain'>,
  collectors: readonly FleetCollector[],
  { beganAt, seed }: { readonly beganAt: EpochMs; readonly seed: number },
): ReadonlyMap<number, EpochMs> {
  const upAgainAt = new Map<number, EpochMs>();
  if (upAgain === undefined) return upAgainAt;
  for (const { id, alive } of collectors) {
    const chance = seededChance(hashNumbers(seed, id, upAgainNumber));
    if (!alive && chance() < upAgain.share)
      upAgainAt.set(id, beganAt + Math.ceil(chance() * upAgain.withinMs));
  }
  return upAgainAt;
}

// Another one, so that a collector may come up again whether or not others are installed.
const installedNumber = 1_000_001;

/**
 * Draws collectors that are installed later, and when each is up, by id. Each is like one of those that the service would upgrade,
 * with another id and name: one on the target build would change nothing. The same seed gives the same result.
 */
export function drawInstalled(
  { installed }: Pick<WhatIf, 'installed'>,
  { collectors, upgradableIds }: Pick<FleetSnapshot, 'collectors' | 'upgradableIds'>,
  { beganAt, seed }: { readonly beganAt: EpochMs; readonly seed: number },
): { readonly collectors: readonly FleetCollector[]; readonly upAt: ReadonlyMap<number, EpochMs> } {
  const models = collectors.filter(({ id }) => upgradableIds.has(id));
  const drawn: FleetCollector[] = [];
  const upAt = new Map<number, EpochMs>();
  if (installed === undefined || models.length === 0) return { collectors: drawn, upAt };
  const lastId = collectors.reduce((most, { id }) => Math.max(most, id), 0);
  for (let number = 1; number <= installed.count; number += 1) {
    const chance = seededChance(hashNumbers(seed, number, installedNumber));
    const model = models[Math.floor(chance() * models.length)];
    if (model === undefined) continue;
    const id = lastId + number;
    drawn.push({ ...model, id, name: `${model.name}-new-${number}`, alive: false });
    upAt.set(id, beganAt + Math.ceil(chance() * installed.withinMs));
  }
  return { collectors: drawn, upAt };
}

/** Where a plan has the collectors that match a break, whatever the share that the build breaks. */
export interface BreakPlaces {
  readonly planned: number;
  /** By the reason for which the plan leaves them out. */
  readonly leftOut: readonly LeftOutCount[];
}

/** Finds the collectors that match a break in a plan of the whole fleet. */
export function placeBreaks(
  { breaks }: Pick<WhatIf, 'breaks'>,
  { waves, leftOut }: Pick<Plan, 'waves' | 'leftOut'>,
): BreakPlaces {
  const tests = breaks.map(({ match }) => compileMatch(match));
  const matches = ({ collector }: { readonly collector: FleetCollector }) =>
    tests.some((test) => test(collector));
  return {
    planned: sumOf(waves, ({ members }) => members.filter(matches).length),
    leftOut: countLeftOut(leftOut.filter(matches).map(({ kind }) => kind)),
  };
}

function endOf({ how, afterMs }: Break): FateEnd {
  switch (how) {
    case 'fails':
      return { kind: 'failed', message: unknownMessage };
    case 'neverReturns':
      return { kind: 'lost' };
    default:
      return { kind: 'dies', afterMs };
  }
}

/** When a rollout that waits for approval from this instant on gets it; Infinity: never. */
export function approvedAt(approval: Approval, from: EpochMs): EpochMs {
  switch (approval.kind) {
    case 'atOnce':
      return from;
    case 'never':
      return Number.POSITIVE_INFINITY;
    default:
      return nextTimeOfDay(approval, from);
  }
}

/** The first instant, from this one on, at which a clock in the zone shows this minute of the day. */
export function nextTimeOfDay(
  { minute, timeZone }: { readonly minute: number; readonly timeZone: string },
  from: EpochMs,
): EpochMs {
  const zone = findTimeZone(timeZone) ?? utc;
  const today = Math.floor(zone.localOf(from) / dayMs) * dayMs + minute * 60_000;
  const at = zone.instantOf(today);
  return at >= from ? at : zone.instantOf(today + dayMs);
}
