import type { Clock, EpochMs } from '../../base/time.ts';

export type CookieJar = ReturnType<typeof makeCookieJar>;

interface Cookie {
  readonly value: string;
  /** Infinity: a session cookie, which the service ends. */
  readonly expiresAt: EpochMs;
  readonly path: string;
}

const cookiesMax = 20;
/** Servers refuse longer headers: many above 8 KiB, some for all headers together. */
const lengthMax = 8_000;
const cookieLengthMax = 4_096;

/**
 * The session cookies of one service (collector-api.md §5.4). They are secrets, and are sent only in a `Cookie` header
 * to the origin that set them. A jar belongs to one base URL, so `Domain` and `Secure` do not matter.
 */
export function makeCookieJar(clock: Clock) {
  const cookies = new Map<string, Cookie>();

  const live = (): Array<[string, Cookie]> => {
    const now = clock.now();
    for (const [name, cookie] of cookies) if (cookie.expiresAt <= now) cookies.delete(name);
    return [...cookies];
  };
  /** Drops the oldest. Cookies in use are set again. */
  const makeRoom = (): void => {
    for (const [name] of live()) {
      if (cookies.size <= cookiesMax && lengthOf([...cookies]) <= lengthMax) return;
      cookies.delete(name);
    }
  };

  return {
    /** Stores, updates or removes the cookies that a response set. Unreadable ones are ignored. */
    store: (setCookie: readonly string[]): void => {
      for (const line of setCookie) {
        const parsed = parseSetCookie(line, clock.now());
        if (parsed === undefined) continue;
        cookies.delete(parsed.name);
        if (parsed.cookie.expiresAt > clock.now()) cookies.set(parsed.name, parsed.cookie);
      }
      makeRoom();
    },
    /** The `Cookie` header for a path; undefined without cookies. */
    headerFor: (path: string): string | undefined => {
      const sent = live().filter(([, cookie]) => isUnder(path, cookie.path));
      return sent.length === 0 ? undefined : sent.map(pairOf).join('; ');
    },
    hasCookie: (): boolean => live().length > 0,
    /** Removes the cookies of a sent header, except those that have changed since. */
    forgetSent: (sent: string | undefined): void => {
      const pairs = new Set(sent?.split('; '));
      for (const [name, cookie] of cookies) if (pairs.has(pairOf([name, cookie]))) cookies.delete(name);
    },
    /** The values, to keep them out of messages. */
    secrets: (): readonly string[] => [...cookies.values()].map(({ value }) => value),
  };
}

function pairOf([name, { value }]: readonly [string, Cookie]): string {
  return `${name}=${value}`;
}

function lengthOf(cookies: ReadonlyArray<readonly [string, Cookie]>): number {
  return cookies.map(pairOf).join('; ').length;
}

function parseSetCookie(line: string, now: EpochMs): { name: string; cookie: Cookie } | undefined {
  const [pair = '', ...attributes] = line.split(';');
  const match = /^([!#$%&'*+\-.^`|~\w]+)=([\x21-\x7e]*)$/.exec(pair.trim());
  if (line.length > cookieLengthMax || match === null) return undefined;
  const found = new Map(
    attributes.map((attribute) => {
      const [name = '', ...rest] = attribute.split('=');
      return [name.trim().toLowerCase(), rest.join('=').trim()];
    }),
  );
  const path = found.get('path') ?? '';
  return {
    name: match[1] ?? '',
    cookie: {
      value: match[2] ?? '',
      expiresAt: expiryOf(found.get('max-age'), found.get('expires'), now),
      path: path.startsWith('/') ? path : '/',
    },
  };
}

/** `Max-Age` takes precedence over `Expires`. Unreadable values are ignored. */
function expiryOf(maxAge: string | undefined, expires: string | undefined, now: EpochMs): EpochMs {
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1_000;
  const at = expires === undefined ? Number.NaN : Date.parse(expires);
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

function isUnder(path: string, cookiePath: string): boolean {
  const folder = cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`;
  return path === cookiePath || path.startsWith(folder);
}
