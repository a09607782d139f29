import { echoedForms } from '../base/secret.ts';

/** Replaces every secret in a text. */
export type Redact = (text: string) => string;

/** Shorter values are ordinary words. Replacing them would garble the log, and the gaps would reveal them. */
const secretLengthMin = 6;

/**
 * Makes a function that replaces the given secrets everywhere in a text (P12): verbatim, percent-encoded, in Base64 and
 * escaped for JSON. For Basic sign-ins, pass the pair `<id>:<key>` as one of the secrets.
 */
export function makeRedactor(secrets: readonly string[]): Redact {
  const forms = echoedForms(secrets.filter(({ length }) => length >= secretLengthMin));
  if (forms.length === 0) return (text) => text;
  const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'g');
  return (text) => text.replace(pattern, '[redacted]');
}
