import { quantile } from '../quantile.ts';
import { fixed, type Row, table, verdict } from '../report.ts';
import { type BlastRadiusResult, brokenIn } from './blast-radius.ts';
import { fleetSize } from './draw-fleet.ts';
import { renderAttributeCase } from './report-attributes.ts';
import type { Trial } from './trial.ts';

/** What is wanted; a goal that is not met fails nothing. */
const goals = {
  /** Harmed collectors over the rival's, both summed over all fleets. */
  harmedOfRival: 0.1,
  othersDone: 0.99,
} as const;

// More reasons than these hide the frequent ones.
const reasonsShownMax = 5;

/** Figures that each contestant has. */
interface Play {
  readonly harmed: number;
  readonly othersDone: number;
  readonly makespanMs: number;
}

/** The whole result as plain text. */
export function renderBlastRadius(result: BlastRadiusResult): string {
  const { cores, loadBefore } = result.machine;
  const broken = brokenIn(result);
  const parts = [
    `${cores} cores, load ${loadBefore.toFixed(1)} before the run; virtual time, 50 slots, rival: a random canary of 1 %, threshold 5 %`,
    ...result.cases.map(({ share, trials }) => renderCase(share, trials)),
    ...result.attributeCases.map(renderAttributeCase),
    broken.length === 0 ? '' : `BROKEN\n${broken.join('\n')}`,
  ];
  return `\n${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function renderCase(share: number, trials: readonly Trial[]): string {
  const plays = [
    trials.map(({ upwave }): Play => upwave),
    trials.map(({ canaryOnly }): Play => canaryOnly),
    trials.map(({ watching }): Play => watching),
  ];
  const row = (
    label: string,
    figure: (of: readonly Play[]) => number,
    format: (value: number) => string,
    isMet?: { readonly goal: string; readonly by: (value: number) => boolean },
  ): Row => ({
    label,
    cells: plays.map((each) => format(figure(each))),
    ...(isMet === undefined ? {} : { goal: `${isMet.goal} ${verdict(isMet.by(figure(plays[0] ?? [])))}` }),
  });
  const harmed = (of: readonly Play[]) => of.map((play) => play.harmed);
  const done = (of: readonly Play[]) => of.map(({ othersDone }) => othersDone * 100);
  const tenth = `<= ${goals.harmedOfRival}`;
  const ours = plays[0] ?? [];
  const sizes = trials.map(({ brokenSize }) => brokenSize);
  const strata = trials.map((trial) => trial.strata);
  const head =
    `a build that breaks ${share * 100} % of ${fleetSize} collectors: one stratum of ${span(sizes)}, ` +
    `among ${span(strata)} strata; ${trials.length} fleets`;
  const lines = table(
    head,
    ['upwave', 'canary', 'canary+watch'],
    [
      row('harmed, median', (of) => quantile(harmed(of), 0.5), fixed(0)),
      row('harmed, mean', (of) => mean(harmed(of)), fixed(1)),
      row('harmed, p95', (of) => quantile(harmed(of), 0.95), fixed(0)),
      {
        label: '  upwave over it, all fleets',
        cells: ['', ...plays.slice(1).map((each) => fixed(3)(mean(harmed(ours)) / mean(harmed(each))))],
        goal: `${tenth} ${verdict(plays.slice(1).every((each) => mean(harmed(ours)) <= goals.harmedOfRival * mean(harmed(each))))}`,
      },
      {
        label: '  upwave over it, median fleet',
        cells: ['', ...plays.slice(1).map((each) => fixed(3)(medianRatio(harmed(ours), harmed(each))))],
      },
      row('others done, median (%)', (of) => quantile(done(of), 0.5), fixed(1)),
      row('others done, mean (%)', (of) => mean(done(of)), fixed(1), {
        goal: `>= ${goals.othersDone * 100}`,
        by: (value) => value >= goals.othersDone * 100,
      }),
      row('others done, p5 (%)', (of) => quantile(done(of), 0.05), fixed(1)),
      row('until it ended or stopped, median (h)', (of) => hours(of), fixed(1)),
      { label: 'stopped before the end (fleets)', cells: stoppedCells(trials) },
    ],
  );
  return [lines, ...wordsOf(trials)].join('\n');
}

function stoppedCells(trials: readonly Trial[]): readonly string[] {
  const count = (isStopped: (trial: Trial) => boolean) => String(trials.filter(isStopped).length);
  return [
    count(({ upwave }) => !upwave.isThrough),
    count(({ canaryOnly }) => canaryOnly.stopped),
    count(({ watching }) => watching.stopped),
  ];
}

/** What a table of figures can't say: what upwave held, and why. */
function wordsOf(trials: readonly Trial[]): readonly string[] {
  const lines: string[] = [];
  const unseen = trials.filter(
    ({ upwave, brokenLabel }) => !upwave.heldStrata.some(({ label }) => label === brokenLabel),
  );
  if (unseen.length > 0) lines.push(`the broken stratum was not held alone in ${unseen.length} fleets`);
  const others = trials.flatMap(({ upwave, brokenLabel }) =>
    upwave.heldStrata.filter(({ label }) => label !== brokenLabel),
  );
  if (others.length > 0) {
    const fleets = trials.filter(({ upwave, brokenLabel }) =>
      upwave.heldStrata.some(({ label }) => label !== brokenLabel),
    ).length;
    const byOne = others.filter(({ reason }) => reason.kind === 'outlier' && reason.failed === 1).length;
    lines.push(
      `${others.length} other strata were held in ${fleets} fleets, ${byOne} of them for one failure in the canary`,
    );
  }
  const reasons = new Map<string, number>();
  for (const { upwave } of trials) {
    if (upwave.isThrough) continue;
    const reason = `${upwave.state}: ${upwave.reason.replace(/\d+/g, 'n')}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const frequent = [...reasons].sort((a, b) => b[1] - a[1]).slice(0, reasonsShownMax);
  return [...lines, ...frequent.map(([reason, count]) => `stopped everything in ${count} fleets, ${reason}`)];
}

/** Over the fleets, of how much of the rival's harm was done; no harm on either side counts as none. */
function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  const ratios = ours.map((harmed, index) => (harmed === 0 ? 0 : harmed / (theirs[index] ?? 0)));
  return quantile(ratios, 0.5);
}

function hours(of: readonly Play[]): number {
  return (
    quantile(
      of.map(({ makespanMs }) => makespanMs),
      0.5,
    ) / 3_600_000
  );
}

function span(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
