type Fields = Readonly<Record<string, string>>;

export type TextPool = ReturnType<typeof makeTextPool>;

// Several times the number of builds, systems, categories, zones and field values that a fleet shares. Later texts
// mostly belong to one collector only.
const keptMax = 20_000;

/**
 * Keeps one copy of each text and set of fields that many collectors share. Without it, 100,000 collectors have a
 * million strings in memory.
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
