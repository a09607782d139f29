import { cutText } from '../base/cut-text.ts';
import { serviceLimits } from '../contract/service-limits.ts';

/** The longest text that the service keeps of a collector is a description. Longer ones would fill Redis, page and terminal. */
const textLengthMax = serviceLimits.descriptionLengthMax;

/** Half of a character, which JSON can hold; a script in Redis can't read a record that has one (P13). */
const halves = /\p{Cs}/gu;

/** A text of the service as it can be stored and shown, cut to a length. Secrets go before: half of one would be left. */
export function boundText(text: string): string {
  const whole = text.replace(halves, '\ufffd');
  const cut = cutText(whole, textLengthMax);
  // Written anew, since the engine keeps the whole text for a part of it.
  return cut === whole ? whole : Buffer.from(`${cut}…`).toString();
}
