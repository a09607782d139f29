import { serviceLimits } from '../contract/service-limits.ts';

/** The longest text that the service keeps of a collector is a description. Longer ones would fill Redis, page and terminal. */
const textLengthMax = serviceLimits.descriptionLengthMax;

/** A text of the service, cut to a length that can be stored and shown. Secrets go before: half of one would be left. */
export function boundText(text: string): string {
  if (text.length <= textLengthMax) return text;
  // No half of a character is left at the end.
  return `${text.slice(0, textLengthMax).replace(/[\ud800-\udbff]$/, '')}…`;
}
