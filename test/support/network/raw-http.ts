import { type Agent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface RawRequest {
  readonly method: string;
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Path and query, sent as they are: a URL parser would normalise them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Left out: a connection for this request alone. */
  readonly agent?: Agent;
  readonly localAddress?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

// Far longer than any answer takes. A request that hangs fails its own test, and not the whole run.
const answerWithinMs = 30_000;

/** Sends one request as it is and reads the whole answer: no retry, no cookie, no redirect. */
export function sendRaw(raw: RawRequest): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(raw.origin);
  const send = protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method: raw.method,
        path: raw.target,
        agent: raw.agent ?? false,
        localAddress: raw.localAddress,
        timeout: answerWithinMs,
        headers: {
          ...raw.headers,
          ...(raw.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(raw.body)) }),
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`no answer to ${raw.method} ${raw.target} within ${answerWithinMs} ms`)),
    );
    outgoing.on('error', reject);
    outgoing.end(raw.body);
  });
}

type Asked = Partial<Pick<RawRequest, 'method' | 'headers' | 'body' | 'localAddress'>>;

/** Sends one request to a URL. `fetch` would not let a test set Host, Origin, and what a browser adds. */
export async function askRaw(url: string, { method = 'GET', headers = {}, body, ...more }: Asked = {}) {
  const { origin } = new URL(url);
  const answer = await sendRaw({ ...more, method, origin, target: url.slice(origin.length), headers, body });
  return { ...answer, json: (): unknown => JSON.parse(answer.text) };
}
