import { type Agent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface RawRequest {
  readonly method: string;
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Path and query, sent as they are: a URL parser would tidy up what is to be tested. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agent: Agent;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

// Far above any honest answer; a hang must fail its own test and not the run.
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
        agent: raw.agent,
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
