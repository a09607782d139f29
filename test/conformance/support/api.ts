import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type RawAnswer, sendRaw } from '../../support/network/raw-http.ts';
import { type RequestPace, unpaced } from './request-pace.ts';

export interface Credentials {
  readonly accessId: string;
  readonly accessKey: string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface ApiRequest {
  /** Added to those every request carries; null takes one away. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly text?: string;
  /** The path is below `{base_url}` and not below `{base_url}/v1`. */
  readonly unversioned?: boolean;
  /** Neither sends the session cookie nor keeps a new one. */
  readonly withoutSession?: boolean;
}

export interface ApiAnswer extends RawAnswer {
  readonly method: Method;
  readonly path: string;
}

/**
 * Speaks to a service as collector-api.md has it: Basic credentials, JSON both ways, and the session cookie sent back
 * (§5.4). Nothing is judged here.
 */
export class Api {
  readonly baseUrl: string;
  readonly #credentials: Credentials;
  readonly #pace: RequestPace;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #cookies = new Map<string, string>();

  constructor(parts: {
    readonly baseUrl: string;
    readonly credentials: Credentials;
    readonly pace?: RequestPace;
    /** Which of our addresses it asks from. */
    readonly localAddress?: string;
  }) {
    this.baseUrl = parts.baseUrl;
    this.#credentials = parts.credentials;
    this.#pace = parts.pace ?? unpaced;
    const { localAddress } = parts;
    const options = {
      keepAlive: true,
      maxSockets: 32,
      ...(localAddress === undefined ? {} : { localAddress }),
    };
    this.#agent = parts.baseUrl.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
  }

  get(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send('GET', path, request);
  }

  post(path: string, body: unknown): Promise<ApiAnswer> {
    return this.send('POST', path, { body });
  }

  /** @param etag undefined leaves `If-Match` out */
  put(path: string, body: unknown, etag: string | undefined): Promise<ApiAnswer> {
    return this.send('PUT', path, { body, headers: etag === undefined ? {} : { 'if-match': etag } });
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.send('DELETE', path);
  }

  async send(method: Method, path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const { origin, pathname } = new URL(this.baseUrl);
    const root = `${pathname.replace(/\/$/, '')}${request.unversioned === true ? '' : '/v1'}`;
    for (let retries = 0; ; retries++) {
      await this.#pace.turn();
      const answer = await sendRaw({
        method,
        origin,
        target: `${root}${path}`,
        headers: this.#headers(request),
        body: request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body)),
        agent: this.#agent,
      });
      if (request.withoutSession !== true) this.#keepCookies(answer.headers['set-cookie'] ?? []);
      if (answer.status !== 429 || retries >= this.#pace.retriesMax) return { ...answer, method, path };
      await this.#pace.rest(answer.headers['retry-after']);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #headers(request: ApiRequest): Record<string, string> {
    const headers: Record<string, string | null> = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: basicAuthorization(this.#credentials),
      cookie: request.withoutSession === true || this.#cookies.size === 0 ? null : this.#cookieHeader(),
      ...request.headers,
    };
    return Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  }

  #cookieHeader(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #keepCookies(setCookies: readonly string[]): void {
    for (const [name, value] of setCookies.map(cookiePair)) this.#cookies.set(name, value);
  }
}

export function basicAuthorization({ accessId, accessKey }: Credentials): string {
  return `Basic ${Buffer.from(`${accessId}:${accessKey}`).toString('base64')}`;
}

/** The `name=value` that a client sends back. */
export function cookiePair(setCookie: string): readonly [name: string, value: string] {
  const pair = setCookie.split(';', 1)[0] ?? '';
  const at = pair.indexOf('=');
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}
