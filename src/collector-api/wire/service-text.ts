import { cutText } from '../../base/safe-text.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** What a text of the service is for us, which says how short a secret may be and still be hidden in it. */
export type TextKind =
  /** Words for people. A secret under 4 characters would blacken ordinary words, and is none in production. */
  | 'words'
  /**
   * A name, a build, an address: what collectors are chosen and compared by. A short cookie such as `web1` must not
   * turn one into another (P5); access keys and their encodings are far longer.
   */
  | 'values';

const lengthMin: Readonly<Record<TextKind, number>> = { words: 4, values: 16 };

/** Makes what keeps these secrets out of texts that the service wrote, as they are and as a URL holds them (P12). */
export function makeHider(secrets: readonly string[], kind: TextKind): (text: string) => string {
  const forms = new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]));
  const hidden = [...forms]
    .filter((form) => form.length >= lengthMin[kind])
    // The longest first, since they may hold each other.
    .sort((a, b) => b.length - a.length);
  const shortest = hidden.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  // Most of the million texts of a large inventory are too short to hold one.
  return (text) =>
    text.length < shortest ? text : hidden.reduce((rest, form) => rest.replaceAll(form, '***'), text);
}

/** The longest text that the service keeps of a collector is a description. Longer ones would fill Redis, page and terminal. */
const textLengthMax = serviceLimits.descriptionLengthMax;

/** Half of a character, which JSON can hold; a script in Redis can't read a record that has one (P13). */
const halves = /\p{Cs}/gu;

/** A text of the service as it can be stored and shown, cut to a length. Secrets go before: half of one would be left. */
export function boundText(text: string): string {
  const whole = text.replace(halves, '\ufffd');
  const cut = cutText(whole, textLengthMax);
  // Written again, since the engine keeps the whole text for a part of it.
  return cut === whole ? whole : Buffer.from(`${cut}…`).toString();
}
