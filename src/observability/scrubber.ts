import { echoedForms } from '../base/secret.ts';

/** Replaces every secret in a text. */
export type Scrub = (text: string) => string;

/** Shorter values are words of everyday text: replacing them would garble the log and reveal them by the gaps. */
const secretLengthMin = 6;

/**
 * Makes a function that replaces the given secrets wherever they stand in a text (P12): as they are, percent-encoded,
 * in Base64 and as JSON escapes them. For Basic sign-ins, give the pair `<id>:<key>` as one of the secrets.
 */
export function makeScrubber(secrets: readonly string[]): Scrub {
  const forms = echoedForms(secrets.filter(({ length }) => length >= secretLengthMin));
  if (forms.length === 0) return (text) => text;
  const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'g');
  return (text) => text.replace(pattern, '[redacted]');
}
