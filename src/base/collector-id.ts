/**
 * The id that a person's word is, blanks around it left out; undefined for what can only be a name. A longer number than
 * ours hold exactly is none: rounded, it would be the id of another collector.
 */
export function parseCollectorId(text: string): number | undefined {
  const id = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}
