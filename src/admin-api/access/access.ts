import { isLoopbackAddress, isLoopbackHost } from '../../base/loopback.ts';
import type { Clock } from '../../base/time.ts';
import type { HttpAnswer, HttpRequest } from '../../http/operation-handlers.ts';
import { faultAnswer } from './admin-fault.ts';
import { bearerOf, type Caller, type Callers } from './callers.ts';
import { makeWrongTokens } from './wrong-tokens.ts';

/** Returns the caller, or the fault for which the request is refused. */
export type Access = (request: HttpRequest) => { readonly caller: Caller } | { readonly refusal: HttpAnswer };

/** Paths served without a token. They show only whether the daemon is alive and works; the page itself asks for the token. */
const openPaths: readonly string[] = ['/', '/healthz', '/readyz'];

/**
 * Decides who may make a request (DESIGN §5, HTTP): users of a trusted proxy, bearers of a token where one is set, else
 * connections from this machine. Then the role decides. Rules are checked in order, and the first refusal is the answer.
 */
export function makeAccess(parts: { readonly callers: Callers; readonly clock: Clock }): Access {
  const { callers } = parts;
  const judgeStranger = makeStrangerJudge(parts.clock);
  return (request) => {
    const known = callers.identify(request);
    const hasTokens = callers.hasTokens();
    const isOpen = hasTokens && openPaths.includes(request.path);
    const judge = hasTokens ? judgeStranger : judgeLocal;
    const refusal = known === undefined && !isOpen ? judge(request) : undefined;
    const caller = known ?? { name: null, role: 'operator' };
    const found = refusal ?? judgeOrigin(request) ?? (isOpen ? undefined : judgeRole(request, caller));
    return found === undefined ? { caller } : { refusal: found };
  };
}

/** Reads that cost as much as a scan of the service or of Redis. Only those who may run the verb may preview it. */
const costlyReads: readonly string[] = ['previewStart', 'previewRepair'];

function judgeRole({ method, path, operation }: HttpRequest, { name, role }: Caller): HttpAnswer | undefined {
  if (role === 'operator') return undefined;
  const who = name === null ? 'this token' : name;
  if (role === 'metrics') {
    if (path === '/metrics' || openPaths.includes(path)) return undefined;
    return faultAnswer('forbidden', `${who} has the role metrics, which may read /metrics alone`);
  }
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && !costlyReads.includes(operation?.name ?? '')) return undefined;
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
function judgeLocal(request: HttpRequest): HttpAnswer | undefined {
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

function isOwnName(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return isLoopbackHost(name) || name.endsWith('.localhost');
}

/** Answers requests without a known token. */
function makeStrangerJudge(clock: Clock): (request: HttpRequest) => HttpAnswer {
  const wrongTokens = makeWrongTokens(clock);
  return (request) => {
    const given = bearerOf(request);
    const challenge = { 'www-authenticate': 'Bearer realm="upwave"' };
    if (given === undefined) return faultAnswer('unauthorized', 'a bearer token is needed', challenge);
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

/**
 * A browser sends the origin of the page that posts, and the site of a page that reads. Only our own page may do either.
 * Other clients send neither.
 */
function judgeOrigin(request: HttpRequest): HttpAnswer | undefined {
  const { origin, host } = request.headers;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isOurs = isRead
    ? !isReadByAnotherSite(request)
    : origin === undefined || (host !== undefined && hostOf(origin) === host.toLowerCase());
  return isOurs ? undefined : faultAnswer('forbidden', 'a page of another origin may not do this');
}

/** A foreign page could not see the answer, but reads cost, too: `explain` sends a request. Following a link is allowed. */
function isReadByAnotherSite({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isFollowedLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return (site === 'cross-site' || site === 'same-site') && !isFollowedLink;
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
