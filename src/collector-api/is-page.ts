import type { HttpFault } from '../http/http-fault.ts';

/** Statuses with which the service refuses before it looks at what we want, perhaps in a few bare words. */
const bareRefusals: readonly (number | undefined)[] = [403, 415];

/**
 * Whether an answer was written by something in between, such as a gateway's or a firewall's page: the service speaks
 * JSON, or says nothing (P13). A page names its type, so a refusal in bare words without one is the service's own.
 */
export function isPage({ isJson, status, headers }: HttpFault): boolean {
  if (isJson) return false;
  return !bareRefusals.includes(status) || headers['content-type'] !== undefined;
}
