import { formatDuration } from '../../base/time.ts';
import { type Expectation, evaluateExpectation } from '../model/expectation.ts';
import type { GateFinding, GateSilence, JudgedGate } from '../model/stop-cause.ts';
import { makeText } from './sentences.ts';

/** The state of a gate's probe: `errors 0.93, expected >= 0.99, for 4m of 10m`. */
export function gateText({ name, dryRun, finding }: JudgedGate): string {
  return `${name} ${findingText(finding)}${dryRun ? ' (dry run)' : ''}`;
}

const findingText = makeText<GateFinding>({
  unasked: () => 'has not been asked yet',
  silent: ({ silence }) => silenceText(silence),
  saysHold: ({ silence, detail }) => {
    if (silence !== null) return `answered hold, then ${silenceText(silence)}`;
    return detail === '' ? 'answers hold' : `answers hold: ${detail}`;
  },
  answered: answeredText,
});

function answeredText(finding: Extract<GateFinding, { kind: 'answered' }>): string {
  const { silence, lastsMs, forMs, isOld } = finding;
  const answer = answerText(finding);
  if (silence !== null) return `${answer}, then ${silenceText(silence)}`;
  if (lastsMs < forMs) return `${answer}, for ${formatDuration(lastsMs)} of ${formatDuration(forMs)}`;
  if (isOld) return `${answer}, but that is too old to count`;
  return forMs > 0 ? `${answer}, for ${formatDuration(lastsMs)}` : answer;
}

function answerText(finding: Extract<GateFinding, { kind: 'answered' }>): string {
  const { isMet, value, expect, detail } = finding;
  if (expect === null) return 'answers pass';
  const valueText = value === null ? 'no value' : writeGateValue(expect, value);
  const figures = detail === undefined ? '' : ` (${detail})`;
  return `${valueText}${isMet ? '' : ', expected'} ${writeExpectation(expect)}${figures}`;
}

function silenceText({ times, detail }: GateSilence): string {
  return `gave no answer ${times === 1 ? 'once' : `${times} times`}: ${detail}`;
}

/** Writes a query's value in six digits, or in all of them where rounding would put it on the other side. */
export function writeGateValue(expect: Expectation, value: number): string {
  const rounded = Number(value.toPrecision(6));
  const isTrue = evaluateExpectation(expect, rounded) === evaluateExpectation(expect, value);
  return String(isTrue ? rounded : value);
}

/** `>= 0.99` */
export function writeExpectation({ operator, value }: Expectation): string {
  return `${operator} ${value}`;
}
