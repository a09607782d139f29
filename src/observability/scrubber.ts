/** Replaces every secret in a text. */
export type Scrub = (text: string) => string;

/** Shorter values are words of everyday text: replacing them would garble the log and reveal them by the gaps. */
const secretLengthMin = 6;

/**
 * Makes a function that replaces the given secrets wherever they stand in a text (P12): as they are, percent-encoded,
 * in Base64 and as JSON escapes them. For Basic sign-ins, give the pair `<id>:<key>` as one of the secrets.
 */
export function makeScrubber(secrets: readonly string[]): Scrub {
  const forms = new Set(
    secrets
      .filter((secret) => secret.length >= secretLengthMin)
      .flatMap((secret) => [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('base64url'),
      ]),
  );
  if (forms.size === 0) return (text) => text;
  // Longest first: a secret that contains another one goes as a whole.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, '[redacted]');
}
