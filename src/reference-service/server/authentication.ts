import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hashHex } from '../../base/hash.ts';
import { keepLatest } from '../../base/keep-latest.ts';
import type { Clock, EpochMs } from '../../base/time.ts';
import type { HttpRequest } from '../../http/operation-handlers.ts';
import type { AccessKey } from '../scenario/account-scenario.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { SlidingWindow } from './sliding-window.ts';

/** An access id and its key, as in HTTP Basic. */
export interface Credentials {
  readonly accessId: string;
  readonly accessKey: string;
}

export type SignInResult =
  | {
      readonly kind: 'known';
      readonly key: AccessKey;
      readonly sessionId: string;
      /** True when this request opened it. */
      readonly isNewSession: boolean;
      readonly broughtCookie: boolean;
    }
  /** No failed sign-in: the client waits for the challenge (field-facts.md, The wire). */
  | { readonly kind: 'noCredentials' }
  | { readonly kind: 'wrongKey' }
  | { readonly kind: 'throttled' };

/** The specification does not name the cookie. */
export const sessionCookieName = 'session';

/** More than any test needs. The oldest are dropped first. */
const sessionsMax = 10_000;
const addressesMax = 10_000;

interface SignIns {
  readonly accepted: SlidingWindow;
  readonly failed: SlidingWindow;
}

/** Identifies callers (collector-api.md §5): Basic credentials, a session cookie instead of a sign-in, and the throttle. */
export class Authentication {
  readonly #keys: ReadonlyMap<string, AccessKey>;
  readonly #limits: Scenario['limits'];
  readonly #clock: Clock;
  readonly #signInsByAddress = new Map<string, SignIns>();
  readonly #sessions = new Map<string, { readonly accessId: string; readonly expiresAt: EpochMs }>();

  constructor(parts: {
    readonly keys: readonly AccessKey[];
    readonly limits: Scenario['limits'];
    readonly clock: Clock;
  }) {
    this.#keys = new Map(parts.keys.map((key) => [key.accessId, key]));
    this.#limits = parts.limits;
    this.#clock = parts.clock;
  }

  identify({ headers, remoteAddress }: Pick<HttpRequest, 'headers' | 'remoteAddress'>): SignInResult {
    const now = this.#clock.now();
    const credentials = basicCredentials(headers.authorization);
    const sessionId = sessionIdOf(headers.cookie);
    const broughtCookie = sessionId !== undefined;
    const sessionKey = this.#keyOfSession(sessionId, now);
    if (sessionId !== undefined && sessionKey !== undefined) {
      const isSamePerson = credentials === undefined || this.#rightKey(credentials) === sessionKey;
      if (isSamePerson)
        return { kind: 'known', key: sessionKey, sessionId, isNewSession: false, broughtCookie };
    }
    if (credentials === undefined) return { kind: 'noCredentials' };
    const key = this.#rightKey(credentials);
    if (this.#isThrottled(remoteAddress, key, now)) return { kind: 'throttled' };
    if (key === undefined) return { kind: 'wrongKey' };
    return {
      kind: 'known',
      key,
      sessionId: this.#open(key.accessId, now),
      isNewSession: true,
      broughtCookie,
    };
  }

  /** Counts a sign-in. Throttled ones count as well: a client that continues at a higher rate stays locked out. */
  #isThrottled(address: string, key: AccessKey | undefined, now: EpochMs): boolean {
    const { signInsPerMinute, failedSignInsPerMinute } = this.#limits;
    if (signInsPerMinute === null) return false;
    const { accepted, failed } = this.#signInsFrom(address);
    const failedBefore = failed.count(now);
    (key === undefined ? failed : accepted).add(now);
    // Otherwise guessing would succeed after too many wrong keys.
    if (failedSignInsPerMinute !== null && failedBefore >= failedSignInsPerMinute) return true;
    return accepted.count(now) > signInsPerMinute;
  }

  #signInsFrom(address: string): SignIns {
    const known = this.#signInsByAddress.get(address);
    if (known !== undefined) return known;
    const signIns = { accepted: new SlidingWindow(60_000), failed: new SlidingWindow(60_000) };
    keepLatest(this.#signInsByAddress, address, signIns, addressesMax);
    return signIns;
  }

  /** The key that a request claims, unchecked, to find the deployment of its account. */
  claimedKey(headers: IncomingHttpHeaders): AccessKey | undefined {
    const credentials = basicCredentials(headers.authorization);
    return credentials === undefined
      ? this.#keyOfSession(sessionIdOf(headers.cookie), this.#clock.now())
      : this.#keys.get(credentials.accessId);
  }

  /** Checks credentials without counting a sign-in. */
  isRight(credentials: Credentials | undefined): boolean {
    return credentials !== undefined && this.#rightKey(credentials) !== undefined;
  }

  /** Ends all sessions, as a restart of the service does. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  #rightKey(credentials: Credentials): AccessKey | undefined {
    const key = this.#keys.get(credentials.accessId);
    return key !== undefined && isSameText(key.accessKey, credentials.accessKey) ? key : undefined;
  }

  #keyOfSession(id: string | undefined, now: EpochMs): AccessKey | undefined {
    const session = id === undefined ? undefined : this.#sessions.get(id);
    return session !== undefined && now < session.expiresAt ? this.#keys.get(session.accessId) : undefined;
  }

  #open(accessId: string, now: EpochMs): string {
    const id = randomUUID();
    const expiresAt = now + this.#limits.sessionLifetime;
    keepLatest(this.#sessions, id, { accessId, expiresAt }, sessionsMax);
    return id;
  }
}

function sessionIdOf(cookies: string | undefined): string | undefined {
  return new RegExp(`(?:^|;\\s*)${sessionCookieName}=([^;]+)`).exec(cookies ?? '')?.[1];
}

/** @returns undefined when the header is absent or not Basic */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = /^Basic\s+(\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const [accessId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { accessId, accessKey: rest.join(':') };
}

function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashHex(a, 64)), Buffer.from(hashHex(b, 64)));
}
