import { type DurationMs, type EpochMs, formatDuration } from '../../base/time.ts';
import { dayMs, findTimeZone, utc } from '../../base/time-zone.ts';
import { leftOutLine, showLeftOut } from '../../rollout/messages/exclusions.ts';
import { holdsUnknownText } from '../../rollout/messages/plans.ts';
import { counted, stateText } from '../../rollout/messages/sentences.ts';
import type { BreakPlaces, WhatIf } from '../world/what-if.ts';
import { settledWithin } from './is-settled.ts';
import type { Range, Rehearsal, RehearsedEnd, RehearsedWave, WaveInstants } from './rehearsal.ts';
import { comparedText, type ShownReplay } from './replay-text.ts';

/** A rehearsed variant of the policy. */
export interface RehearsedVariant {
  readonly name: string;
  readonly rehearsal: Rehearsal;
}

/** How many collectors the plan leaves out because an operator holds them, or why that is not known. */
export type ShownHolds =
  | { readonly kind: 'known'; readonly held: number }
  | { readonly kind: 'unknown'; readonly why?: string };

/** Another policy that was played, and when its rollout started. */
export interface ShownOther {
  readonly policy: string;
  readonly targetBuild: string;
  readonly planned: number;
  readonly startsAt: EpochMs;
}

/** Everything that is shown of a rehearsal. */
export interface ShownRehearsal {
  readonly policy: string;
  readonly timeZone: string;
  readonly targetBuild: string;
  readonly whatIf: WhatIf;
  /** The requested number. Fewer are simulated when more would show nothing new. */
  readonly seedsAsked: number;
  readonly rehearsal: Rehearsal;
  /** The past rollout that was played again. */
  readonly replay?: ShownReplay;
  /** Absent for a replay. */
  readonly holds?: ShownHolds;
  /** Absent for a replay. */
  readonly breakPlaces?: BreakPlaces;
  /** null: other policies were not played. */
  readonly others: readonly ShownOther[] | null;
  /** The unchanged policy first, all with the same seeds; empty when no collector was harmed. */
  readonly variants: readonly RehearsedVariant[];
  /** The conditions of `--fail-if`, and whether each of them is met. */
  readonly verdicts: ReadonlyArray<{ readonly condition: string; readonly isMet: boolean }>;
}

/** `median 12, p95 30, worst 41`. */
function rangeText({ median, p95, worst }: Range, write = String as (value: number) => string): string {
  return `median ${write(median)}, p95 ${write(p95)}, worst ${write(worst)}`;
}

/** `200 seeds`, or why fewer than requested were simulated. */
export function seedsText({ seedsAsked, rehearsal: { seeds } }: ShownRehearsal): string {
  if (seeds === seedsAsked) return counted(seeds, 'seed');
  const percent = settledWithin * 100;
  return `${seeds} of ${seedsAsked} seeds: all end for one reason, and medians and percentiles are known to ${percent}%`;
}

/** `02:15`, or `+1d 02:15` on a later day than the start, in the policy's time zone. */
export function clockText(at: EpochMs, { timeZone, rehearsal }: ShownRehearsal): string {
  const zone = findTimeZone(timeZone) ?? utc;
  const local = zone.localOf(at);
  const days = Math.floor(local / dayMs) - Math.floor(zone.localOf(rehearsal.beganAt) / dayMs);
  const time = new Date(local).toISOString().slice(11, 16);
  return days === 0 ? time : `+${days}d ${time}`;
}

/** When a wave opened or passed: `02:15 to 02:40`, with the share of seeds that reached it if not all did. */
function instantText({ seeds, afterMs }: WaveInstants, result: ShownRehearsal): string {
  if (afterMs === null) return 'never';
  const clock = (ms: DurationMs) => clockText(result.rehearsal.beganAt + ms, result);
  const [from, to] = [clock(afterMs.p5), clock(afterMs.p95)];
  const words = from === to ? from : `${from} to ${to}`;
  return seeds === result.rehearsal.seeds ? words : `${words} (${percentText(seeds, result)})`;
}

export function waveRow(wave: RehearsedWave, result: ShownRehearsal): readonly string[] {
  return [wave.name, String(wave.size), instantText(wave.opened, result), instantText(wave.passed, result)];
}

/** `held in 40 % of the seeds: wave canary: 1 failure, 0 allowed`. */
export function endText({ state, reason, seeds }: RehearsedEnd, result: ShownRehearsal): string {
  const name = state === 'running' ? 'rests with a wave open' : stateText(state);
  return `${name} in ${percentText(seeds, result)} of the seeds: ${reason}`;
}

export function figureRows(result: ShownRehearsal): ReadonlyArray<readonly [string, string]> {
  const { rehearsal } = result;
  return [
    ...holdsRows(result),
    ...joinedRows(rehearsal),
    ['harmed', harmedText(result)],
    ['others done', sharesText(rehearsal.othersDone)],
    ['others failed', rangeText(rehearsal.othersFailed)],
    ...rollbackRows(rehearsal),
    ['took', rangeText(rehearsal.tookMs, formatDuration)],
    ['end', rangeText(rehearsal.tookMs, (ms) => clockText(rehearsal.beganAt + ms, result))],
    ['requests', rangeText(rehearsal.requests)],
    ...(result.replay === undefined ? [] : [['compared', comparedText(result.replay, rehearsal)] as const]),
  ];
}

function joinedRows({ joined }: Rehearsal): ReadonlyArray<readonly [string, string]> {
  return joined.worst === 0 ? [] : [['joined', rangeText(joined)]];
}

function rollbackRows({ rolledBack, leftBehind }: Rehearsal): ReadonlyArray<readonly [string, string]> {
  const rows = [['rolled back', rolledBack] as const, ['left behind', leftBehind] as const];
  return rows.flatMap(([label, of]) => (of.worst === 0 ? [] : [[label, rangeText(of)] as const]));
}

function holdsRows({ holds }: ShownRehearsal): ReadonlyArray<readonly [string, string]> {
  if (holds === undefined) return [];
  if (holds.kind === 'unknown') return [['holds', holdsUnknownText(holds.why)]];
  if (holds.held === 0) return [];
  return [['holds', `${counted(holds.held, 'collector')} left out, held by an operator`]];
}

/** Unlike the other figures, it is better when it is higher. */
function sharesText({ median, p95, worst }: Range): string {
  return `median ${median}%, at least ${p95}% in 95 of 100 seeds, worst ${worst}%`;
}

function harmedText(result: ShownRehearsal): string {
  const {
    rehearsal: { harmed, broken },
    replay,
  } = result;
  if (replay !== undefined)
    return broken.worst === 0
      ? 'none, because none failed for good'
      : `${rangeText(harmed)} of ${ofText(broken)} that fail for good`;
  if (broken.worst === 0) return `none, because ${unbrokenText(result)}`;
  return `${rangeText(harmed)} of ${ofText(broken)} that the build breaks`;
}

/** A share breaks more collectors in some seeds than in others. */
function ofText({ median, worst }: Range): string {
  return median === worst ? String(worst) : `up to ${worst}`;
}

/** Why the build broke no planned collector. */
function unbrokenText({ whatIf, breakPlaces }: ShownRehearsal): string {
  if (whatIf.breaks.length === 0 || breakPlaces === undefined)
    return 'the build is assumed to break no collector';
  const { planned, leftOut } = breakPlaces;
  if (planned > 0)
    return `the assumed share broke none of the ${counted(planned, 'planned collector')} that it may break`;
  if (leftOut.length === 0) return 'no collector of the fleet matches what the build is assumed to break';
  const why = leftOutLine(showLeftOut(leftOut));
  return `the build is assumed to break only collectors that are not in the plan (${why})`;
}

export const variantColumns = ['policy', 'harmed', 'p95', 'others done', 'took'] as const;

/** The unchanged policy, then the variants that harm fewer collectors, the best first; empty if no variant does. */
export function variantRows({
  variants: [asItIs, ...others],
}: ShownRehearsal): ReadonlyArray<readonly string[]> {
  if (asItIs === undefined) return [];
  const better = others.filter(({ rehearsal }) => compareHarm(rehearsal, asItIs.rehearsal) < 0);
  if (better.length === 0) return [];
  const byHarm = better.toSorted(
    ({ rehearsal: a }, { rehearsal: b }) => compareHarm(a, b) || a.tookMs.median - b.tookMs.median,
  );
  return [asItIs, ...byHarm].map(({ name, rehearsal: { harmed, othersDone, tookMs } }) => [
    name,
    String(harmed.median),
    String(harmed.p95),
    `${othersDone.median}%`,
    formatDuration(tookMs.median),
  ]);
}

function compareHarm({ harmed: a }: Rehearsal, { harmed: b }: Rehearsal): number {
  return a.median - b.median || a.p95 - b.p95;
}

/** Heading of the table. Variants play fewer seeds than the policy, so the same policy has other figures there. */
export function variantsHeading({ variants: [asItIs], rehearsal }: ShownRehearsal): string {
  const seeds = asItIs?.rehearsal.seeds ?? rehearsal.seeds;
  const played = seeds === rehearsal.seeds ? '' : ` (the first ${counted(seeds, 'seed')} each)`;
  return `what would have caught it earlier${played}`;
}

/** Said where variants were played, and none of them harms fewer collectors. */
export const noVariantText =
  'No variant that was played would have caught it earlier: another spread, fewer upgrades at a time, isolation, longer soaks, smaller waves, no failure allowed.';

function percentText(seeds: number, { rehearsal }: ShownRehearsal): string {
  return `${Math.round((seeds / rehearsal.seeds) * 1_000) / 10}%`;
}
