import { versionPath } from '../contract/collector-management-api.ts';

/**
 * The base URL that a 301's `Location` points to (collector-api.md, Deployments). A Location without a path keeps the
 * path of the base URL that was asked.
 * @returns undefined when it names no http(s) address; never with credentials or a query
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
 * Whether credentials may follow a move (P12): only to a host that the operator allowed, and never from https to http.
 * In a pattern `*` stands for one label of the name; a pattern with a port allows that port alone, one without the port of
 * the configured base URL and the protocol's own: another port is another server.
 */
export function mayFollow(
  move: { readonly from: string; readonly to: string; readonly configured: string },
  allowedHosts: readonly string[],
): boolean {
  const from = new URL(move.from);
  const to = new URL(move.to);
  const configured = new URL(move.configured);
  if (from.protocol === 'https:' && to.protocol !== 'https:') return false;
  // A way back: credentials go there anyway.
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
