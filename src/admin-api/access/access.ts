import { isIPv6 } from 'node:net';
import { isLoopbackAddress, isLoopbackHost } from '../../base/loopback.ts';
import type { Clock } from '../../base/time.ts';
import { isDocsPath } from '../../docs/docs-paths.ts';
import type { HttpAnswer, HttpRequest } from '../../http/operation-handlers.ts';
import { faultAnswer } from './admin-fault.ts';
import { bearerOf, type Caller, type Callers } from './identify-callers.ts';
import { makeWrongTokens } from './wrong-tokens.ts';

/** The path of the style and the script of the page. */
export const assetsPath = '/assets';

/** Paths of rollouts that a person typed without the `#` of the page. They lead to the page. */
export const rolloutPagesPath = '/rollouts';

/** Returns the caller, or the fault for which the request is refused. */
export type Access = (request: HttpRequest) => { readonly caller: Caller } | { readonly refusal: HttpAnswer };

/** Paths served without a token. They show only whether the daemon is alive and works; the page itself asks for the token. */
const openPaths: readonly string[] = ['/', '/healthz', '/readyz'];

function isOpenPath(path: string): boolean {
  return (
    openPaths.includes(path) || [assetsPath, rolloutPagesPath].some((open) => path.startsWith(`${open}/`))
  );
}

/**
 * Decides who may make a request (DESIGN §5, HTTP): users of a trusted proxy, bearers of a token where one is set, else
 * connections from this machine. Then the role decides. Rules are checked in order, and the first refusal is the answer.
 */
export function makeAccess(parts: { readonly callers: Callers; readonly clock: Clock }): Access {
  const { callers } = parts;
  const strangerRefusal = makeStrangerRefusal(parts.clock);
  return (request) => {
    const known = callers.identify(request);
    const hasTokens = callers.hasTokens();
    const isPublicGuide = callers.docs() === 'public' && isDocsPath(request.path);
    const isOpen = hasTokens && (isOpenPath(request.path) || isPublicGuide);
    const refusalOf = hasTokens ? strangerRefusal : localRefusal;
    const refusal = known === undefined && !isOpen ? refusalOf(request) : undefined;
    const caller = known ?? { name: null, role: 'operator' };
    const found = refusal ?? originRefusal(request) ?? (isOpen ? undefined : roleRefusal(request, caller));
    return found === undefined ? { caller } : { refusal: found };
  };
}

/** Reads that cost as much as a scan of the service or of Redis. Only those who may run the verb may preview it. */
const costlyReads: readonly string[] = ['previewStart'];

/** Whether a viewer may not send this request. @param name of the operation; empty for other paths */
export function needsOperator({ method, name }: { readonly method: string; readonly name: string }): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return !isRead || costlyReads.includes(name);
}

function roleRefusal(
  { method, path, operation }: HttpRequest,
  { name, role }: Caller,
): HttpAnswer | undefined {
  if (role === 'operator') return undefined;
  const who = name === null ? 'this token' : name;
  if (role === 'metrics') {
    if (path === '/metrics' || isOpenPath(path)) return undefined;
    return faultAnswer('forbidden', `${who} has the role metrics, which may read /metrics alone`);
  }
  if (!needsOperator({ method, name: operation?.name ?? '' })) return undefined;
  return faultAnswer('forbidden', `${who} is a viewer and may change nothing; an operator can do this`);
}

/**
 * Whether the caller may read the state. To others, an open path shows no host names. Without a token, `Access` admits
 * only this machine.
 */
export function makeMayRead(callers: Callers): (request: HttpRequest) => boolean {
  return (request) => !callers.hasTokens() || callers.identify(request) !== undefined;
}

/** Without a token, only this machine is admitted, and only under a host name that is certainly its own. */
function localRefusal(request: HttpRequest): HttpAnswer | undefined {
  const { headers, remoteAddress } = request;
  if (!isLoopbackAddress(remoteAddress)) {
    return faultAnswer('forbidden', 'without a token only this machine may connect; set http.token');
  }
  // Through a proxy on this machine, every client looks local. Some proxies are recognised only by HTTP/1.0.
  if (request.httpVersion === '1.0' || Object.keys(headers).some(isOfProxy)) {
    return faultAnswer(
      'forbidden',
      'without a token only this machine may connect, and not through a proxy or with HTTP/1.0; set http.token',
    );
  }
  // DNS rebinding: a foreign page whose host name resolves to 127.0.0.1 has our address, but not our host name.
  if (!isOwnName(headers.host)) {
    return faultAnswer(
      'forbidden',
      'without a token the host must be localhost or a loopback address; set http.token',
    );
  }
  return undefined;
}

/** Headers that proxies, load balancers and CDNs add. */
const proxyHeaders =
  /^(?:forwarded(?:-for)?|via|cdn-loop|cf-.+|x-real-ip|x-scheme|x-forwarded.*|x-original-.+|x-envoy-.+|x-amz.+|x-azure-.+|(?:[a-z]+-)*client-?ip|x-cluster-client-ip)$/;

function isOfProxy(header: string): boolean {
  return proxyHeaders.test(header);
}

// A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. Nothing else, such as a user or a path.
const hostHeader = /^(?:([\w.-]+)|\[([\da-f:.]+)\])(?::\d{1,5})?$/i;

function isOwnName(host: string | undefined): boolean {
  if (host === undefined) return true;
  const [, name = '', ipv6 = ''] = hostHeader.exec(host) ?? [];
  return (
    isLoopbackHost(name) ||
    (isIPv6(ipv6) && isLoopbackAddress(ipv6)) ||
    /^(?:[\w-]+\.)+localhost$/i.test(name)
  );
}

/** Answers requests without a known token. */
function makeStrangerRefusal(clock: Clock): (request: HttpRequest) => HttpAnswer {
  const wrongTokens = makeWrongTokens(clock);
  return (request) => {
    const token = bearerOf(request);
    const challenge = { 'www-authenticate': 'Bearer realm="upwave"' };
    if (token === undefined) return faultAnswer('unauthorized', 'a bearer token is needed', challenge);
    // A valid token never gets here. Behind a proxy all clients share an address, and wrong guesses of others must not keep an
    // operator from the brake (P4).
    const refusedForMs = wrongTokens.refusedForMs(request.remoteAddress);
    if (refusedForMs > 0) {
      return faultAnswer('tooManyAttempts', 'too many wrong tokens from this address', {
        'retry-after': String(Math.ceil(refusedForMs / 1_000)),
      });
    }
    wrongTokens.count(request.remoteAddress);
    return faultAnswer('unauthorized', 'the token is wrong', challenge);
  };
}

/** What a browser sends for a request of our own page, or of a person who typed the address. Other clients send nothing. */
const ownSites: readonly unknown[] = [undefined, 'same-origin', 'none'];

/** A browser sends the origin of the page that posts, or at least its site. Only our own page may post or read. */
function originRefusal({ method, headers }: HttpRequest): HttpAnswer | undefined {
  const isOwnSite = ownSites.includes(headers['sec-fetch-site']);
  // A foreign page could not see the answer, but reads cost, too: `explain` sends a request. Following a link is allowed.
  const isFollowedLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  const isRead = method === 'GET' || method === 'HEAD';
  const isOurs = isRead ? isOwnSite || isFollowedLink : isOwnSite && isOwnOrigin(headers);
  return isOurs ? undefined : faultAnswer('forbidden', 'a page of another origin may not do this');
}

function isOwnOrigin({ origin, host }: HttpRequest['headers']): boolean {
  if (origin === undefined) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  // An origin has no user, path or query.
  return url.host === host.toLowerCase() && url.origin === origin.toLowerCase();
}
