import { nearestText } from '../../base/names.ts';
import { type EpochMs, parseDuration } from '../../base/time.ts';
import { type Expectation, evaluateExpectation } from '../../rollout/model/expectation.ts';
import { nextTimeOfDay } from '../world/what-if.ts';
import type { Rehearsal } from './rehearsal.ts';

/** A condition under which a rehearsal fails, such as `harmed.p95 > 5`. */
export interface Limit {
  /** The condition as it was written. */
  readonly text: string;
  readonly metric: Metric;
  readonly figure: Figure;
  readonly operator: Operator;
  readonly value: LimitValue;
}

/** `number`: a duration is in milliseconds. */
type LimitValue =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'timeOfDay'; readonly minute: number };

const figures = ['best', 'p5', 'median', 'p95', 'worst'] as const;
type Figure = (typeof figures)[number];

type Operator = Exclude<Expectation['operator'], '==' | '!='>;

/** `end` and `took` are one figure: as an instant, or as a duration. */
const metrics = [
  'harmed',
  'othersDone',
  'othersFailed',
  'rolledBack',
  'leftBehind',
  'requests',
  'end',
  'took',
  'held',
] as const;
type Metric = (typeof metrics)[number];

/** An invalid condition. The message is for the person who wrote it. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/**
 * Parses `METRIC.FIGURE OPERATOR VALUE`. `held` has no figure: it is the percentage of seeds that do not end by themselves.
 * @throws LimitError
 */
export function parseLimit(text: string): Limit {
  const match = /^\s*([A-Za-z]+)(?:\.([A-Za-z0-9]+))?\s*(>=|<=|>|<)\s*(\S+?)\s*$/.exec(text);
  if (match === null)
    throw new LimitError(
      `"${text}" is not a condition; write one such as "harmed.p95 > 5" or "end.p95 > 06:00"`,
    );
  const [, metricText = '', figureText, operator = '', valueText = ''] = match;
  const metric = oneOf(metrics, metricText, text);
  if (metric === 'held' && figureText !== undefined)
    throw new LimitError(`"${text}": held has no figure; write "held > 10"`);
  const figure = metric === 'held' ? 'median' : oneOf(figures, figureText ?? '', text);
  const value = readValue(metric, valueText);
  if (value === undefined)
    throw new LimitError(`"${text}": "${valueText}" is not a value of ${metric}; ${valueHint(metric)}`);
  return { text, metric, figure, operator: operator as Operator, value };
}

function oneOf<Word extends string>(words: readonly Word[], text: string, whole: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  const nearest = nearestText(text, words);
  const hint = nearest === undefined ? `there are ${words.join(', ')}` : `did you mean "${nearest}"?`;
  throw new LimitError(
    `"${whole}": ${text === '' ? 'a figure is missing' : `"${text}" is unknown`}; ${hint}`,
  );
}

function readValue(metric: Metric, text: string): LimitValue | undefined {
  if (metric === 'took' || metric === 'end') {
    const durationMs = parseDuration(text);
    if (metric === 'took')
      return durationMs === undefined ? undefined : { kind: 'number', number: durationMs };
    const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
    return hours === undefined
      ? undefined
      : { kind: 'timeOfDay', minute: Number(hours) * 60 + Number(minutes) };
  }
  const number = Number(text.replace(/%$/, ''));
  return text !== '' && Number.isFinite(number) ? { kind: 'number', number } : undefined;
}

function valueHint(metric: Metric): string {
  if (metric === 'took') return 'write a duration such as 8h';
  return metric === 'end' ? 'write a time of day such as 06:00' : 'write a number';
}

/** True when the condition is met, so that the rehearsal fails. @param timeZone of times of day */
export function isMet(limit: Limit, rehearsal: Rehearsal, timeZone: string): boolean {
  const value = boundOf(limit.value, rehearsal.beganAt, timeZone);
  return evaluateExpectation({ operator: limit.operator, value }, actualOf(limit, rehearsal));
}

function actualOf({ metric, figure }: Limit, rehearsal: Rehearsal): number {
  if (metric === 'held') return heldPercent(rehearsal);
  const range = rehearsal[metric === 'took' || metric === 'end' ? 'tookMs' : metric];
  return range[figure];
}

/** The percentage of seeds whose rollout stops before its end. */
export function heldPercent({ ends, seeds }: Rehearsal): number {
  const isEnd = (state: string) => state === 'succeeded' || state === 'finishedWithFailures';
  const held = ends.filter(({ state }) => !isEnd(state)).reduce((sum, end) => sum + end.seeds, 0);
  return (held / Math.max(1, seeds)) * 100;
}

/** A time of day is the first one after the start. */
function boundOf(value: LimitValue, beganAt: EpochMs, timeZone: string): number {
  if (value.kind === 'number') return value.number;
  return nextTimeOfDay({ minute: value.minute, timeZone }, beganAt) - beganAt;
}
