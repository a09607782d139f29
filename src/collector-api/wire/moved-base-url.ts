import { versionPath } from '../../contract/collector-management/api.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { boundText } from './service-text.ts';

export type Move = { readonly ok: 'moved'; readonly to: string };

/**
 * The meaning of a redirect: a move to follow, or a config mistake whose message names the right base URL (P12).
 * @param redact removes secrets from an address that the service sent
 */
export function readMove(
  { status, headers }: HttpFault,
  at: {
    readonly operation: string;
    readonly from: string;
    readonly configured: string;
    readonly allowedHosts: readonly string[];
  },
  redact: (text: string) => string,
): Move | (Answer<never> & { readonly ok: false }) {
  const to = baseUrlFromLocation(headers.location ?? '', at.from);
  if (headers.location === undefined || to === undefined) {
    const detail = `${at.operation}: redirected (${status}) without an address. Check baseUrl in the config.`;
    return { ok: false, failure: { kind: 'misconfigured', detail } };
  }
  const address = boundText(redact(to));
  // A followed address is reported, so it must be safe to show.
  const isShown = address === to;
  if (isShown && to !== at.from && mayFollow({ ...at, to }, at.allowedHosts)) return { ok: 'moved', to };
  const detail = `This account is served at ${address}. Set baseUrl in the config to it, or allow its host in allowedHosts.`;
  return { ok: false, failure: { kind: 'misconfigured', detail } };
}

/**
 * The base URL in a redirect's `Location` (collector-api.md, Deployments). A Location without a path keeps the path of
 * the current base URL.
 * @returns undefined when it is no http(s) address; never with credentials or a query
 */
export function baseUrlFromLocation(location: string, currentBaseUrl: string): string | undefined {
  if (!URL.canParse(location, `${currentBaseUrl}/`)) return undefined;
  const url = new URL(location, `${currentBaseUrl}/`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const beforeVersion = new RegExp(`^(.*?)${versionPath}(?:/|$)`).exec(url.pathname)?.[1];
  const path = url.pathname === '/' ? new URL(currentBaseUrl).pathname : (beforeVersion ?? url.pathname);
  return `${url.origin}${path.replace(/\/+$/, '')}`;
}

/**
 * Whether credentials may follow a move (P12): only to an allowed host, and never from https to http. In a pattern `*`
 * is one label of the name. A pattern with a port allows this port only. One without a port allows the protocol's
 * default and that of the configured base URL, because another port is another server.
 */
export function mayFollow(
  move: { readonly from: string; readonly to: string; readonly configured: string },
  allowedHosts: readonly string[],
): boolean {
  const from = new URL(move.from);
  const to = new URL(move.to);
  const configured = new URL(move.configured);
  if (from.protocol === 'https:' && to.protocol !== 'https:') return false;
  // The configured origin gets the credentials anyway.
  if (to.origin === configured.origin) return true;
  return allowedHosts.some((pattern) => {
    if (/:\d+$/.test(pattern)) return hostPattern(pattern).test(`${to.hostname}:${portOf(to)}`);
    const isUsualPort = to.port === '' || portOf(to) === portOf(configured);
    return isUsualPort && hostPattern(pattern).test(to.hostname);
  });
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

function hostPattern(glob: string): RegExp {
  const escaped = glob.trim().replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^.:]+')}$`, 'i');
}
