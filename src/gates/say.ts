import type { Secret } from '../base/secret.ts';

/** Makes words of others fit to be shown: in one line, bounded, and without the token (P12). */
export type Say = (text: string) => string;

const charactersMax = 200;

/** Blanks and breaks of any kind, and characters that move a cursor, hide, or turn the reading direction. */
const unprintable = /[\s\p{C}\p{Z}]+/gu;

/** Makes a `Say` for one question; the one who was asked may repeat its token. */
export function makeSay(token: Secret | undefined): Say {
  const forms = token === undefined ? [] : formsOf(token.reveal());
  return (text) => {
    const line = text.replace(unprintable, (gap) => (/[\s\p{Z}]/u.test(gap) ? ' ' : '')).trim();
    // The token goes before the text is cut: half of it would be left at the end.
    const clean = forms.reduce((rest, form) => rest.replaceAll(form, '***'), line);
    // By characters, not by halves of them.
    return Array.from(clean.slice(0, 2 * charactersMax))
      .slice(0, charactersMax)
      .join('');
  };
}

/** As it is, and as it stands in JSON, in a URL, and in Base64; the longest first, since they may hold each other. */
function formsOf(token: string): readonly string[] {
  const base64 = Buffer.from(token).toString('base64');
  const forms = [token, JSON.stringify(token).slice(1, -1), encodeURIComponent(token), base64];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
