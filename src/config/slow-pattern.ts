import { createContext, Script } from 'node:vm';
import { sampleUnits } from './sample-units.ts';

/** A sound expression needs some milliseconds for all samples; one that tries every way to share a text out, years. */
const withinMs = 100;
/** Asked once more before it is refused: a machine that is busy may pause us for as long. */
const certainWithinMs = 500;
/** All second trials of a config together; after that, the first one decides. */
const certainAllMs = 3_000;

/** As long as a text of the inventory is kept. */
const sampleLength = 1_024;
/** A line break, which `.` does not match, and a character that nobody expects. */
const end = '\n\u{10ffff}';

// One for all: to make one takes longer than a trial.
const context = createContext({});
const isOver = new Script('samples.every((sample) => (pattern.test(sample), true))');

/**
 * Makes a test of whether a regular expression takes far too long for some text that it does not match, such as
 * `/^(a+)+$/`: it would stop the whole process, and no signal ends it. Tried on samples, so what it finds is certain, and
 * what it does not find may still be slow. Make one for all expressions of a config, which then share a bound.
 */
export function makePatternTrial(): (pattern: RegExp) => boolean {
  let certainLeftMs = certainAllMs;

  const takesLonger = (timeoutMs: number): boolean => {
    try {
      isOver.runInContext(context, { timeout: timeoutMs });
      return false;
    } catch (error) {
      // It is an Error of the other context, so no `instanceof` knows it.
      const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
      if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return true;
      throw error;
    }
  };
  return (pattern) => {
    Object.assign(context, { pattern, samples: samplesFor(pattern.source) });
    if (!takesLonger(withinMs)) return false;
    if (certainLeftMs < certainWithinMs) return true;
    const startedAt = performance.now();
    const isSlow = takesLonger(certainWithinMs);
    certainLeftMs -= performance.now() - startedAt;
    return isSlow;
  };
}

/** Long repetitions, each with an end that nothing expects, so that the whole does not match. */
function samplesFor(source: string): readonly string[] {
  const beginning = /^\^?([\w-]+)/.exec(source)?.[1] ?? '';
  return sampleUnits(source).flatMap((unit) => {
    const text = unit.repeat(Math.ceil(sampleLength / unit.length)).slice(0, sampleLength);
    return [`${text}${end}`, `${beginning}${text}${end}`];
  });
}
