import { InvalidArgumentError } from 'commander';
import { type EpochMs, parseDuration } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('give a whole number.');
  return Number(text);
}

/** Makes a parser for counts from 1 to a maximum. It throws InvalidArgumentError. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = wholeNumber(text);
    if (count < 1 || count > max) throw new InvalidArgumentError(`give a number from 1 to ${max}.`);
    return count;
  };
}

/** @throws InvalidArgumentError */
export function fleetSize(text: string): number {
  const size = wholeNumber(text);
  if (size <= serviceLimits.collectorsMax) return size;
  throw new InvalidArgumentError(`an account has at most ${serviceLimits.collectorsMax} collectors.`);
}

/** @throws InvalidArgumentError */
export function wholeDays(text: string): number {
  const days = wholeNumber(text);
  if (days < 1) throw new InvalidArgumentError('give at least 1 day.');
  return days;
}

/** @throws InvalidArgumentError */
export function positiveNumber(text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new InvalidArgumentError('give a number above 0.');
  return number;
}

/** An instant in ISO 8601, or how long ago it was (`2h`). @throws InvalidArgumentError */
export function instantOrAge(text: string): EpochMs {
  const ageMs = parseDuration(text);
  const at = ageMs === undefined ? Date.parse(text) : Date.now() - ageMs;
  if (!Number.isFinite(at) || at < 0)
    throw new InvalidArgumentError(
      'give how long ago, such as 2h, or an instant, such as 2026-11-22T21:00Z.',
    );
  return Math.floor(at);
}

/**
 * Parses the arguments of `hold` and `release`. Each argument is one subject, except the parts of a stratum's label, which
 * are joined by a lone `/`. A subject with blanks is quoted.
 */
export function readSubjects(words: readonly string[]): readonly string[] {
  return words.includes('/') ? [words.join(' ')] : [...new Set(words)];
}

/** @returns undefined when the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
