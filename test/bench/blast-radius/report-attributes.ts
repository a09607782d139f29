import { quantile } from '../quantile.ts';
import { fixed, type Row, table, verdict } from '../report.ts';
import type { AttributeTrial } from './attribute-trial.ts';
import type { AttributeCase } from './blast-radius.ts';
import { fleetSize } from './draw-fleet.ts';
import type { UpwavePlay } from './play-upwave.ts';

/** What is wanted; a goal that is not met fails nothing. */
const goals = { namedRight: 0.95, accused: 0.01, othersDone: 0.97 } as const;

/** Fleets with 12 attributes, of which the build breaks one that nobody spread by. */
export function renderAttributeCase({ hidden, trials }: AttributeCase): string {
  return hidden.kind === 'nobody' ? renderHealthy(trials) : renderHidden(hidden, trials);
}

function renderHidden(
  hidden: Exclude<AttributeCase['hidden'], { kind: 'nobody' }>,
  trials: readonly AttributeTrial[],
): string {
  const ours = trials.map(({ byAttributes }) => byAttributes);
  const strata = trials.flatMap(({ byStrata }) => byStrata ?? []);
  const row = (
    label: string,
    figure: (of: readonly UpwavePlay[]) => number,
    format: (value: number) => string,
    goal?: number,
  ): Row => ({
    label,
    cells: [ours, strata].map((plays) => format(figure(plays))),
    ...(goal === undefined ? {} : { goal: `>= ${goal * 100} ${verdict(figure(ours) >= goal * 100)}` }),
  });
  const harmed = (of: readonly UpwavePlay[]) => of.map((play) => play.harmed);
  const done = (of: readonly UpwavePlay[]) => of.map(({ othersDone }) => othersDone * 100);
  const sizes = trials.map(({ brokenSize }) => brokenSize);
  const right = share(trials, ({ named }) => named[0]?.isRight === true);
  const what = hidden.kind === 'pair' ? 'a pair of values' : 'one value';
  const head =
    `a build that breaks ${hidden.share * 100} % of ${fleetSize} collectors, those with ${what} of 12 attributes ` +
    `(${Math.min(...sizes)} to ${Math.max(...sizes)}); 1 % of the others fails; ${trials.length} fleets`;
  return table(
    head,
    ['attributes', 'strata alone'],
    [
      row('harmed, median', (of) => quantile(harmed(of), 0.5), fixed(0)),
      row('harmed, mean', (of) => mean(harmed(of)), fixed(1)),
      row('harmed, p95', (of) => quantile(harmed(of), 0.95), fixed(0)),
      {
        label: 'named right, at first (%)',
        cells: [fixed(0)(right * 100), ''],
        goal: `>= ${goals.namedRight * 100} ${verdict(right >= goals.namedRight)}`,
      },
      {
        label: 'named at all (%)',
        cells: [fixed(0)(share(trials, ({ named }) => named.length > 0) * 100), ''],
      },
      {
        label: 'held as it was named (%)',
        cells: [fixed(0)(share(trials, ({ held }) => held.some(({ isRight }) => isRight)) * 100), ''],
      },
      row('others done, median (%)', (of) => quantile(done(of), 0.5), fixed(1)),
      row('others done, mean (%)', (of) => mean(done(of)), fixed(1), goals.othersDone),
      row(
        'stopped before the end (fleets)',
        (of) => of.filter(({ isThrough }) => !isThrough).length,
        fixed(0),
      ),
    ],
  );
}

function renderHealthy(trials: readonly AttributeTrial[]): string {
  const accused = share(trials, ({ named }) => named.length > 0);
  const held = share(trials, (trial) => trial.held.length > 0);
  const done = mean(trials.map(({ byAttributes }) => byAttributes.othersDone * 100));
  return table(
    `a good build: 1 % of ${fleetSize} collectors fails at random; ${trials.length} fleets`,
    ['attributes'],
    [
      {
        label: 'falsely accused, at any time (%)',
        cells: [fixed(1)(accused * 100)],
        goal: `<= ${goals.accused * 100} ${verdict(accused <= goals.accused)}`,
      },
      { label: 'a group was held (%)', cells: [fixed(1)(held * 100)] },
      { label: 'others done, mean (%)', cells: [fixed(1)(done)] },
    ],
  );
}

function share(trials: readonly AttributeTrial[], is: (trial: AttributeTrial) => boolean): number {
  return trials.filter(is).length / trials.length;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
