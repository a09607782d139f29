/**
 * A collector's record as it may be restored: what was read of the collector shortly before the backup says nothing
 * about it now, since daemons may have gone on. So it is looked at before a create (P1). One that can't be read stays
 * as it is: whoever reads it says so.
 */
export function encodeRestored(text: string): string {
  const record = parse(text);
  if (typeof record !== 'object' || record === null) return text;
  const freshness = ['eligibleAt', 'freshAt'].filter((name) => Object.hasOwn(record, name));
  // In their places: the mark of the last write stays at the end, where scripts look for it.
  return JSON.stringify({ ...record, ...Object.fromEntries(freshness.map((name) => [name, 0])) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
