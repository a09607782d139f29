import type { Clock } from '../../base/time.ts';
import { basicToken } from '../../base/url-authority.ts';
import { versionPath } from '../../contract/collector-management/api.ts';
import { type HttpClient, makeHttpClient } from '../../http/client.ts';
import { type CookieJar, makeCookieJar } from './cookie-jar.ts';
import { makeSignInLock, type SignInLock } from './sign-in-lock.ts';

/** More than any account has deployments. It limits the connections of a service that redirects again and again. */
const sessionsMax = 8;

/** The sessions of one client: one for each address to which it was redirected. */
export function makeServiceSessions(open: (baseUrl: string) => ServiceSession) {
  /** By base URL, the last used one at the end. */
  const sessions = new Map<string, ServiceSession>();

  return {
    at: (baseUrl: string): ServiceSession => {
      const session = sessions.get(baseUrl) ?? open(baseUrl);
      sessions.delete(baseUrl);
      sessions.set(baseUrl, session);
      return session;
    },
    /** Closes the oldest sessions beyond the maximum. Their calls end as `cancelled`. */
    closeOldest: async (inUse: readonly ServiceSession[]): Promise<void> => {
      const spare = [...sessions.values()].filter((session) => !inUse.includes(session));
      const old = spare.slice(0, Math.max(0, sessions.size - sessionsMax));
      for (const { baseUrl } of old) sessions.delete(baseUrl);
      await Promise.all(old.map(({ http }) => http.close()));
    },
    /** The values of all cookies. */
    secrets: (): readonly string[] => [...sessions.values()].flatMap(({ jar }) => jar.secrets()),
    close: async (): Promise<void> => {
      await Promise.all([...sessions.values()].map(({ http }) => http.close()));
    },
  };
}

/** Everything that belongs to one base URL: connections, cookies and sign-in. */
export interface ServiceSession {
  readonly baseUrl: string;
  readonly http: HttpClient;
  readonly signInLock: SignInLock;
  readonly jar: CookieJar;
  /** Called at a successful response. If it set no cookie, this service uses none. */
  signedIn(): void;
}

export interface ServiceSessionParts {
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
  readonly requestTimeoutMs: number;
  readonly connectionsMax: number;
  /** PEM of authorities that are trusted in addition to the public ones. */
  readonly ca: string | undefined;
  /** Called at each connection through a proxy, with its address without credentials. */
  readonly onProxy: (proxy: string) => void;
  readonly clock: Clock;
}

/**
 * Opens a session. Each request carries the credentials (collector-api.md §5.1) and, once there is one, the cookie.
 * With the cookie a request does not count as a sign-in (§5.4).
 */
export function openServiceSession(parts: ServiceSessionParts): ServiceSession {
  const jar = makeCookieJar(parts.clock);
  let isCookieless = false;
  const basePath = new URL(parts.baseUrl).pathname.replace(/\/+$/, '');
  const authorization = `Basic ${basicToken({ name: parts.accessId, password: parts.accessKey })}`;

  const http = makeHttpClient({
    baseUrl: `${parts.baseUrl}${versionPath}`,
    timeouts: { totalMs: parts.requestTimeoutMs },
    connections: parts.connectionsMax,
    ca: parts.ca,
    onProxy: parts.onProxy,
    hooks: {
      headers: (operation) => {
        const cookie = jar.headerFor(`${basePath}${versionPath}${operation.path}`);
        return cookie === undefined ? { authorization } : { authorization, cookie };
      },
      onAnswer: ({ status, headers, sentHeaders }) => {
        // 431: the header is too long for this server, and only cookies make it grow.
        if (status === 401 || status === 431) jar.forgetSent(sentHeaders['cookie']);
        else if (status < 400) jar.store(headers['set-cookie'] ?? []);
      },
    },
  });

  return {
    baseUrl: parts.baseUrl,
    http,
    jar,
    signInLock: makeSignInLock(() => !isCookieless && !jar.hasCookie()),
    signedIn: () => {
      isCookieless = !jar.hasCookie();
    },
  };
}
