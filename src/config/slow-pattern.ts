import { createContext, Script } from 'node:vm';
import { sampleUnits } from './sample-units.ts';

/** A sound expression needs some milliseconds for all samples; one that tries every way to share a text out, years. */
const withinMs = 100;
/** Tried again with so much before it is refused, and then with twice as much each time. */
const againWithinMs = 500;
const againWithinMaxMs = 8_000;
/** What it must have computed to be called slow: a machine that is busy may pause us for seconds. */
const computedMs = 400;

/** As long as a text of the inventory is kept. */
const sampleLength = 1_024;
/** A line break, which `.` does not match, and a character that nobody expects. */
const end = '\n\u{10ffff}';

// One for all: to make one takes longer than a trial.
const context = createContext({});
const isOver = new Script('samples.every((sample) => (pattern.test(sample), true))');

/**
 * Whether a regular expression takes far too long for some text that it does not match, such as `/^(a+)+$/`: it would
 * stop the whole process, and no signal ends it. Tried on samples, so what it finds is certain, and what it does not
 * find may still be slow.
 */
export function isSlowPattern(pattern: RegExp): boolean {
  Object.assign(context, { pattern, samples: samplesFor(pattern.source) });
  if (isDoneWithin(withinMs)) return false;
  for (let timeoutMs = againWithinMs; timeoutMs <= againWithinMaxMs; timeoutMs *= 2) {
    const before = process.cpuUsage();
    if (isDoneWithin(timeoutMs)) return false;
    if (process.cpuUsage(before).user / 1_000 >= computedMs) return true;
  }
  return true;
}

function isDoneWithin(timeoutMs: number): boolean {
  try {
    isOver.runInContext(context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    // It is an Error of the other context, so no `instanceof` knows it.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Long repetitions, each with an end that nothing expects, so that the whole does not match. */
function samplesFor(source: string): readonly string[] {
  const beginning = /^\^?([\w-]+)/.exec(source)?.[1] ?? '';
  return sampleUnits(source).flatMap((unit) => {
    const text = unit.repeat(Math.ceil(sampleLength / unit.length)).slice(0, sampleLength);
    return [`${text}${end}`, `${beginning}${text}${end}`];
  });
}
