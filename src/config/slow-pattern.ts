import { createContext, Script } from 'node:vm';

/** A sound expression needs some microseconds for all samples; one that tries every way to share a text out, years. */
const withinMs = 100;
/** Asked once more before it is refused: a machine that is busy may pause us for as long. */
const certainWithinMs = 500;

/** As long as a name may be (collector-api.md §8). */
const sampleLength = 128;
/** What names are made of; the expression's own characters are tried beside them. */
const usualCharacters = ['a', 'A', '0', '_', '-', '.', ' '];
const ownCharactersMax = 40;
/** A line break, which `.` does not match, and a character that nobody expects. */
const end = '\n\u{10ffff}';

// One for all: to make one takes longer than the trial.
const trial = createContext({});
const isOver = new Script('samples.every((sample) => (pattern.test(sample), true))');

/**
 * Whether a regular expression takes far too long for some text that it does not match, such as `/^(a+)+$/`: it would
 * stop the whole process, and no signal ends it. Tried on samples, so what it finds is certain, and what it does not
 * find may still be slow.
 */
export function isSlowPattern(pattern: RegExp): boolean {
  Object.assign(trial, { pattern, samples: samplesFor(pattern.source) });
  return takesLonger(withinMs) && takesLonger(certainWithinMs);
}

function takesLonger(timeoutMs: number): boolean {
  try {
    isOver.runInContext(trial, { timeout: timeoutMs });
    return false;
  } catch (error) {
    // It is an Error of the other context, so no `instanceof` knows it.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return true;
    throw error;
  }
}

/** Long repetitions, each with an end that nothing expects, so that the whole does not match. */
function samplesFor(source: string): readonly string[] {
  const literal = source.replaceAll(/\\[a-zA-Z]|[\\^$.|?*+()[\]{}]/g, '');
  const own = [...new Set(literal)].slice(0, ownCharactersMax);
  const units = [...new Set([...usualCharacters, ...own, literal, 'aA0_-. '])].filter((unit) => unit !== '');
  const beginning = /^\^?([\w-]+)/.exec(source)?.[1] ?? '';
  return units.flatMap((unit) => {
    const text = unit.repeat(Math.ceil(sampleLength / unit.length)).slice(0, sampleLength);
    return [`${text}${end}`, `${beginning}${text}${end}`];
  });
}
