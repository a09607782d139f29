import { cutText } from '../../base/safe-text.ts';
import { hiddenKeyLengthMin } from '../../base/secret.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** The use of a text, which determines how short a secret in it may be and still be removed. */
export type TextKind =
  /**
   * A message for people. Secrets under 4 characters are left in: removing them would garble words, and production has
   * none.
   */
  | 'words'
  /**
   * A name, a build or an address, by which collectors are chosen and compared. Removing a short cookie such as `web1`
   * must not make two of them equal (P5).
   */
  | 'values';

/** Secrets of a client. */
export interface ServiceSecrets {
  /** The access key and its encodings, which no name contains by chance. */
  readonly keys: readonly string[];
  /** The access id, cookies, and other values that may be ordinary words. */
  readonly others: readonly string[];
}

const lengthMin: Readonly<Record<keyof ServiceSecrets, Readonly<Record<TextKind, number>>>> = {
  keys: { words: 4, values: hiddenKeyLengthMin },
  others: { words: 4, values: 16 },
};

/** Makes a function that removes these secrets from texts of the service, verbatim and URL-encoded (P12). */
export function makeRedactor(secrets: ServiceSecrets, kind: TextKind): (text: string) => string {
  const formsOf = (group: keyof ServiceSecrets) =>
    secrets[group]
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((form) => form.length >= lengthMin[group][kind]);
  // The longest come first, because one may contain another.
  const removed = [...new Set([...formsOf('keys'), ...formsOf('others')])].sort(
    (a, b) => b.length - a.length,
  );
  const shortest = removed.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  // Most of the million texts of a large inventory are too short to contain one.
  return (text) =>
    text.length < shortest ? text : removed.reduce((rest, form) => rest.replaceAll(form, '***'), text);
}

/** The longest text of a collector is its description. Longer texts would fill Redis, page and terminal. */
const textLengthMax = serviceLimits.descriptionLengthMax;

/** Lone surrogates, which JSON can contain. A Redis script can't parse a record with one (P13). */
const loneSurrogates = /\p{Cs}/gu;

/** Limits the length of a text, and makes it safe to store. Remove secrets first, so that no part of one remains. */
export function boundText(text: string): string {
  const whole = text.replace(loneSurrogates, '\ufffd');
  const cut = cutText(whole, textLengthMax);
  // Copied, because the engine keeps the whole text for a slice of it.
  return cut === whole ? whole : Buffer.from(`${cut}…`).toString();
}
