import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listenHere } from './listen-here.ts';

/** What the proxy does with one request. */
export type Trouble =
  | { readonly kind: 'pass'; readonly delayMs?: number }
  /** The proxy answers, and the service gets no request. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The service's answer to this path, with another body. */
  | { readonly kind: 'rewrite'; readonly path: string; readonly body: (text: string) => string }
  /** The service carries out the request, and the connection closes in the middle of the answer. */
  | { readonly kind: 'half' }
  /** The service carries out the request, and the answer is dropped. */
  | { readonly kind: 'lose' }
  /** The request is dropped before the service, and not answered. */
  | { readonly kind: 'swallow' };

export interface OnTheWay {
  readonly method: string;
  readonly path: string;
  /** Starts an upgrade task. */
  readonly isCreate: boolean;
}

/** A proxy in front of the service that causes trouble. */
export type TroubledWay = Awaited<ReturnType<typeof openTroubledWay>>;

/** Opens a proxy that forwards every request, until `behave` is called. @param serviceUrl called for each request */
export async function openTroubledWay(serviceUrl: () => string) {
  /** Values of the session cookies that went by. */
  const cookies = new Set<string>();
  let manner: (passing: OnTheWay) => Trouble = () => ({ kind: 'pass' });
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '' } = incoming;
    const isCreate = method === 'POST' && /\/collectors\/upgrades\/?$/.test(url);
    const passing = { serviceUrl: serviceUrl(), incoming, outgoing, cookies };
    const trouble = manner({ method, path: url, isCreate });
    switch (trouble.kind) {
      case 'swallow':
        incoming.resume();
        break;
      case 'answer':
        incoming.resume();
        outgoing.writeHead(trouble.status, trouble.headers).end(trouble.body);
        break;
      case 'pass':
        setTimeout(() => forward(passing, trouble), trouble.delayMs ?? 0);
        break;
      default:
        forward(passing, trouble);
    }
  });
  const { port, close } = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    cookies,
    /** Decides about every request from now on. */
    behave: (next: typeof manner) => {
      manner = next;
    },
    close,
  };
}

interface Passing {
  readonly serviceUrl: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly cookies: Set<string>;
}

function forward(
  { serviceUrl, incoming, outgoing, cookies }: Passing,
  how: Exclude<Trouble, { kind: 'answer' | 'swallow' }>,
): void {
  const { method = 'GET', headers, url = '' } = incoming;
  const path = how.kind === 'rewrite' ? how.path : url;
  const onward = request(`${serviceUrl}${path}`, { method, headers }, (answer) => {
    if (how.kind === 'lose') {
      answer.resume();
      return;
    }
    if (how.kind === 'rewrite') {
      void rewrite(answer, outgoing, how.body);
      return;
    }
    for (const cookie of answer.headers['set-cookie'] ?? []) cookies.add(/=([^;]+)/.exec(cookie)?.[1] ?? '');
    outgoing.sendDate = false;
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (how.kind === 'pass') {
      answer.pipe(outgoing);
      return;
    }
    answer.once('data', (bytes: Buffer) => {
      outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.destroy());
    });
    answer.once('end', () => outgoing.destroy());
  });
  // The service is down, or whoever asked is gone.
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

async function rewrite(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  body: (text: string) => string,
): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch {
    // The service is gone in the middle of its answer: so is this one.
    outgoing.destroy();
    return;
  }
  const text = body(Buffer.concat(chunks).toString());
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = answer.headers;
  outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
}
