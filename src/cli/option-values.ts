import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('give a whole number.');
  return Number(text);
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
