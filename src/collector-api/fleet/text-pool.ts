type Fields = Readonly<Record<string, string>>;

export type TextPool = ReturnType<typeof makeTextPool>;

// Several times the builds, systems, categories, zones and values of fields that a fleet shares. What comes after these is
// mostly of one collector alone.
const keptMax = 20_000;

/**
 * Keeps one copy of each text and of each set of fields that many collectors of a reading share: without it, 100,000
 * collectors have a million texts in memory.
 */
export function makeTextPool() {
  const texts = new Map<string, string>();
  const sets = new Map<string, Fields>();
  return {
    text: (text: string): string => keptOf(texts, text, text),
    fields: (fields: Fields): Fields => keptOf(sets, JSON.stringify(fields), fields),
  };
}

function keptOf<Value>(kept: Map<string, Value>, key: string, value: Value): Value {
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size < keptMax) kept.set(key, value);
  return value;
}
