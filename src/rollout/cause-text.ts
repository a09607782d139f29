/** Shown where texts of one cause differ. */
const anything = '…';

// A message may be as long as the service likes; causes differ in their first words.
const textReadMax = 400;
const textShownMax = 160;

/** A message with what varies from collector to collector left open. */
export interface CauseText {
  /** The same for all messages of one cause. */
  readonly key: string;
  readonly tokens: readonly string[];
}

/**
 * Reads a message for what it has in common with others: numbers, paths, addresses and the collector's own name are left
 * open. Messages of one key have the same tokens but for those.
 */
export function readCauseText(message: string, collectorName: string): CauseText {
  const tokens = message
    .slice(0, textReadMax)
    .split(/\s+/u)
    .filter((token) => token !== '');
  return { key: tokens.map((token) => keyOf(token, collectorName)).join(' '), tokens };
}

/** The tokens that two messages of one cause share; what differs is left open. */
export function commonTokens(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.map((token, index) => (token === b[index] ? token : anything));
}

/** The text of a cause for a person. Adjoining open parts are one. */
export function causeWords(tokens: readonly string[]): string {
  const words = tokens
    .filter((token, index) => token !== anything || tokens[index - 1] !== anything)
    .join(' ');
  return words.length <= textShownMax ? words : `${words.slice(0, textShownMax - 1)}${anything}`;
}

const lead = /^[([{"'`<]+/u;
const trail = /[)\]}"'`>,.;:!?]+$/u;

function keyOf(token: string, collectorName: string): string {
  const core = token.replace(lead, '').replace(trail, '');
  return core === collectorName || isVariable(core) ? anything : token;
}

/** Numbers, versions, ids, paths, addresses, host names of more than one part. */
function isVariable(core: string): boolean {
  return /[\d/\\@]/u.test(core) || /[^.]\.[^.]/u.test(core);
}
