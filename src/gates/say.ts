import { cutText } from '../base/cut-text.ts';
import { toOneLine } from '../base/one-line.ts';
import type { Secret } from '../base/secret.ts';

/** Makes words of others fit to be shown: in one line, bounded, and without secrets (P12). */
export type Say = (text: string) => string;

const lengthMax = 200;

/** Makes a `Say` for one question; the one who was asked may repeat its token, and where it was asked. */
export function makeSay(secrets: readonly Secret[]): Say {
  const forms = [...new Set(secrets.flatMap((secret) => formsOf(secret.reveal())))];
  // The longest first, since they may hold each other.
  forms.sort((a, b) => b.length - a.length);
  return (text) => {
    const line = forms.reduce((rest, form) => rest.replaceAll(form, '***'), toOneLine(text));
    // Secrets went before: half of one would be left at the end.
    return cutText(line, lengthMax);
  };
}

/** As it is, and as it stands in JSON, in a URL, and in Base64. */
function formsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64');
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64];
}
