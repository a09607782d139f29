// Sums of fractions differ in their last digits.
const noise = 1e-6;

/** Where two answers differ first, in words; undefined when they are the same. A field without a value is no field. */
export function differenceOf(real: unknown, model: unknown, at = 'it'): string | undefined {
  if (Object.is(real, model)) return undefined;
  if (typeof real === 'number' && typeof model === 'number' && Math.abs(real - model) < noise)
    return undefined;
  if (!isObject(real) || !isObject(model)) return wordsOf(real, model, at);
  if (real instanceof Set && model instanceof Set) return differenceOf(sorted(real), sorted(model), at);
  if (real instanceof Map && model instanceof Map)
    return differenceOf(Object.fromEntries(real), Object.fromEntries(model), at);
  if (Array.isArray(real) && Array.isArray(model) && real.length !== model.length)
    return wordsOf(real, model, at);
  const [ours, theirs] = [real as Fields, model as Fields];
  for (const name of Object.keys(ours)) {
    const found = differenceOf(ours[name], theirs[name], `${at}.${name}`);
    if (found !== undefined) return found;
  }
  for (const name of Object.keys(theirs))
    if (theirs[name] !== undefined && !(name in ours))
      return wordsOf(undefined, theirs[name], `${at}.${name}`);
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function sorted(set: ReadonlySet<unknown>): readonly unknown[] {
  return [...set].sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

function wordsOf(real: unknown, model: unknown, at: string): string {
  return `${at} is ${shown(real)}, and should be ${shown(model)}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, 600);
}
