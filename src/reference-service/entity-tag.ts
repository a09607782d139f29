import { hashHex } from '../base/hash.ts';
import { refusal } from './refusals.ts';

/** An `ETag` of what a client may state: quoted, and the same whatever the transient fields say (field-facts.md, The wire). */
export function entityTag(content: object): string {
  const inOrder = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${hashHex(JSON.stringify(inOrder), 32)}"`;
}

/** One tag or several, as HTTP has them in `If-Match`. A weak one is readable, and never matches. */
const quotedTags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

/**
 * The rules for updates (collector-api.md §4.4).
 * @throws ServiceFailure when `If-Match` is missing, not quoted, or names another state than the current one
 */
export function checkIfMatch(ifMatch: string | undefined, current: string): void {
  const stated = ifMatch?.trim() ?? '';
  if (stated === '') throw refusal('service.ifthen.missing');
  if (!quotedTags.test(stated)) throw refusal('service.ifthen.notquoted');
  if (!stated.split(/\s*,\s*/).includes(current)) throw refusal('service.etagid.mismatch');
}
