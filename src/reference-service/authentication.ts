import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hashHex } from '../base/hash.ts';
import type { Clock, EpochMs } from '../base/time.ts';
import type { Scenario } from './scenario.ts';
import { SlidingWindow } from './sliding-window.ts';

export interface Credentials {
  readonly accessId: string;
  readonly accessKey: string;
}

export type SignInResult =
  | { readonly kind: 'known'; readonly accessId: string; readonly newSession: string | undefined }
  /** Not a failed sign-in: the client waits for the challenge (field-facts.md, The wire). */
  | { readonly kind: 'noCredentials' }
  | { readonly kind: 'wrongKey' }
  | { readonly kind: 'throttled' };

/** The specification does not name the cookie. */
export const sessionCookieName = 'session';

/** More than any test needs; the oldest goes first. */
const sessionsMax = 10_000;

/** Who is asking (collector-api.md §5): Basic credentials, a session cookie that spares a sign-in, and the throttle. */
export class Authentication {
  readonly #keys: ReadonlyMap<string, string>;
  readonly #limits: Scenario['limits'];
  readonly #clock: Clock;
  readonly #signIns = new SlidingWindow(60_000);
  readonly #sessions = new Map<string, { readonly accessId: string; readonly expiresAt: EpochMs }>();

  constructor(parts: {
    readonly credentials: readonly Credentials[];
    readonly limits: Scenario['limits'];
    readonly clock: Clock;
  }) {
    this.#keys = new Map(parts.credentials.map(({ accessId, accessKey }) => [accessId, accessKey]));
    this.#limits = parts.limits;
    this.#clock = parts.clock;
  }

  identify(headers: IncomingHttpHeaders): SignInResult {
    const now = this.#clock.now();
    const given = basicCredentials(headers.authorization);
    const session = this.#sessionOf(headers.cookie, now);
    if (session !== undefined && (given === undefined || this.isRight(given))) {
      return { kind: 'known', accessId: session.accessId, newSession: undefined };
    }
    if (given === undefined) return { kind: 'noCredentials' };
    this.#signIns.add(now);
    const { signInsPerMinute } = this.#limits;
    if (signInsPerMinute !== null && this.#signIns.count(now) > signInsPerMinute)
      return { kind: 'throttled' };
    if (!this.isRight(given)) return { kind: 'wrongKey' };
    return { kind: 'known', accessId: given.accessId, newSession: this.#open(given.accessId, now) };
  }

  /** Checks credentials without a sign-in being counted. */
  isRight(given: Credentials | undefined): boolean {
    const key = given === undefined ? undefined : this.#keys.get(given.accessId);
    return key !== undefined && isSameText(key, given?.accessKey ?? '');
  }

  /** As after a restart of the service: every client signs in again. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  #sessionOf(cookies: string | undefined, now: EpochMs) {
    const id = new RegExp(`(?:^|;\\s*)${sessionCookieName}=([^;]+)`).exec(cookies ?? '')?.[1];
    const session = id === undefined ? undefined : this.#sessions.get(id);
    return session !== undefined && now < session.expiresAt ? session : undefined;
  }

  #open(accessId: string, now: EpochMs): string {
    const id = randomUUID();
    this.#sessions.set(id, { accessId, expiresAt: now + this.#limits.sessionLifetime });
    const oldest = this.#sessions.keys().next();
    if (this.#sessions.size > sessionsMax && oldest.done !== true) this.#sessions.delete(oldest.value);
    return id;
  }
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
