import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Clock } from '../../base/time.ts';
import type { HttpAnswer, HttpRequest } from '../../http/operation-handlers.ts';
import { faultAnswer } from './admin-fault.ts';
import { withoutMapping } from './remote-network.ts';
import { makeWrongTokens } from './wrong-tokens.ts';

/** Says why a request may not go on; undefined when it may. */
export type Access = (request: HttpRequest) => HttpAnswer | undefined;

/** Served without a token: they tell no more than whether the daemon lives and works, and the page has to ask for the token. */
const openPaths: readonly string[] = ['/', '/healthz', '/readyz'];

/**
 * Who may ask (DESIGN §5, HTTP): the bearer of the token where one is set, else connections from this machine. Rules
 * are judged in order; the first that refuses answers.
 */
export function makeAccess(parts: { readonly token: string | undefined; readonly clock: Clock }): Access {
  const judges = [
    parts.token === undefined ? judgeLocal : makeTokenJudge(parts.token, parts.clock),
    judgeOrigin,
  ];
  return (request) => {
    for (const judge of judges) {
      const refusal = judge(request);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}

/**
 * Whether who asks may read the state: to others an open path tells no names of hosts. Where no token is set, `Access`
 * has let in this machine alone.
 */
export function makeMayRead(token: string | undefined): (request: HttpRequest) => boolean {
  if (token === undefined) return () => true;
  const expected = digest(token);
  return (request) => isBearerOf(expected, bearerOf(request));
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Without a token: only this machine, and only when it is asked for by a name that is certainly its own. */
function judgeLocal(request: HttpRequest): HttpAnswer | undefined {
  const { headers, remoteAddress } = request;
  if (!isLoopback(remoteAddress)) {
    return faultAnswer('forbidden', 'without a token only this machine may connect; set http.token');
  }
  // A proxy on this machine would make the whole world look like this machine. Some tell of themselves by HTTP/1.0 alone.
  if (request.httpVersion === '1.0' || Object.keys(headers).some(isOfProxy)) {
    return faultAnswer(
      'forbidden',
      'without a token only this machine may connect, and not through a proxy or with HTTP/1.0; set http.token',
    );
  }
  // A page of a stranger whose name was pointed at 127.0.0.1 has our origin, but not our name.
  if (!isOwnName(headers.host)) {
    return faultAnswer(
      'forbidden',
      'without a token the host must be localhost or a loopback address; set http.token',
    );
  }
  return undefined;
}

function isLoopback(address: string): boolean {
  const plain = withoutMapping(address);
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** What proxies, load balancers and content networks add. */
const proxyHeaders =
  /^(?:forwarded(?:-for)?|via|cdn-loop|cf-.+|x-real-ip|x-scheme|x-forwarded.*|x-original-.+|x-envoy-.+|x-amz.+|x-azure-.+|(?:[a-z]+-)*client-?ip|x-cluster-client-ip)$/;

function isOfProxy(header: string): boolean {
  return proxyHeaders.test(header);
}

function isOwnName(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isLoopback(name) || name === 'localhost' || name.endsWith('.localhost');
}

function makeTokenJudge(token: string, clock: Clock): Access {
  const expected = digest(token);
  const wrongTokens = makeWrongTokens(clock);
  return (request) => {
    if (openPaths.includes(request.path)) return undefined;
    const given = bearerOf(request);
    const challenge = { 'www-authenticate': 'Bearer realm="upwave"' };
    if (given === undefined) return faultAnswer('unauthorized', 'a bearer token is needed', challenge);
    // Digests have one length and tell nothing by how long their comparison takes. A right one always passes: behind a
    // proxy all the world is one address, and strangers' guesses must not keep an operator from the brake (P4).
    if (isBearerOf(expected, given)) return undefined;
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

function bearerOf({ headers }: HttpRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

function isBearerOf(expected: Buffer, given: string | undefined): boolean {
  return given !== undefined && timingSafeEqual(digest(given), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * A browser names the page that makes it post, and how far from ours the page is that makes it read; only our own page
 * may do either. Other clients name none.
 */
function judgeOrigin(request: HttpRequest): HttpAnswer | undefined {
  const { origin, host } = request.headers;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isOurs = isRead
    ? !isReadByAnotherSite(request)
    : origin === undefined || (host !== undefined && hostOf(origin) === host.toLowerCase());
  return isOurs ? undefined : faultAnswer('forbidden', 'a page of another origin may not do this');
}

/** Its answer would be kept from that page, but a read costs, too: an explanation asks the service. A link may lead here. */
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
