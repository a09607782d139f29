import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listenHere } from './listen-here.ts';

export interface SeenRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;

/** A real HTTP server that answers as it is told, on a free port. */
export async function startScriptedServer(first: Script = (_request, r) => sendJson(r, 200, {})) {
  /** Every request so far, oldest first. */
  const requests: SeenRequest[] = [];
  let script = first;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://server');
      const seen: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        text: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(seen);
      void script(seen, response);
    });
  });
  // It never closes a connection by itself: who keeps none open has to.
  server.keepAliveTimeout = 0;
  const { port, close } = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    /** How requests are answered from now on. */
    follow: (next: Script) => {
      script = next;
    },
    close,
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  sendText(response, status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string | string[]> = {},
): void {
  response.writeHead(status, headers);
  response.end(text);
}

/** Announces more than it sends, and cuts the connection. */
export function sendCutOff(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': '500' });
  response.write('{"id": ', () => response.destroy());
}
