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
