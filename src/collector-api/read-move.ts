import type { HttpFault } from '../http/http-fault.ts';
import type { Answer } from '../orchestrator/ports/answer.ts';
import { boundText } from './bound-text.ts';
import { baseUrlFromLocation, mayFollow } from './moved-base-url.ts';

export type Move = { readonly ok: 'moved'; readonly to: string };

/**
 * What a 301 means: a move that may be followed, or a mistake in someone's setup that names the right base URL (P12).
 * @param hide removes secrets from an address that the service wrote
 */
export function readMove(
  { status, headers }: HttpFault,
  at: {
    readonly operation: string;
    readonly from: string;
    readonly configured: string;
    readonly allowedHosts: readonly string[];
  },
  hide: (text: string) => string,
): Move | (Answer<never> & { readonly ok: false }) {
  const to = baseUrlFromLocation(headers.location ?? '', at.from);
  if (headers.location === undefined || to === undefined) {
    const detail = `${at.operation}: answered ${status} without saying where to. Check service.baseUrl.`;
    return { ok: false, failure: { kind: 'misconfigured', detail } };
  }
  const shown = boundText(hide(to));
  // An address is told when it is used, so one that can't be shown as it is is not followed.
  const isShown = shown === to;
  if (isShown && to !== at.from && mayFollow({ ...at, to }, at.allowedHosts)) return { ok: 'moved', to };
  const detail = `This account is served at ${shown}: set service.baseUrl to it, or allow its host in service.allowedHosts.`;
  return { ok: false, failure: { kind: 'misconfigured', detail } };
}
