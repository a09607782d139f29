import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Something between a daemon and the service. */
export interface WayToService {
  readonly url: string;
  /** Values of the session cookies that went by. */
  readonly cookies: ReadonlySet<string>;
  close(): Promise<void>;
}

interface InsteadAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Passes on every request and answer as they are.
 * @param delayMs how long a request is on its way
 * @param answerInstead gives an answer itself, and the service gets nothing; undefined passes the request on
 */
export async function startWayToService(
  serviceUrl: string,
  {
    delayMs = () => 0,
    answerInstead = () => undefined,
  }: {
    readonly delayMs?: (method: string) => number;
    readonly answerInstead?: (url: string) => InsteadAnswer | undefined;
  } = {},
): Promise<WayToService> {
  const cookies = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', headers, url } = incoming;
    const pass = () => {
      const instead = answerInstead(url ?? '/');
      if (instead !== undefined) {
        incoming.resume();
        outgoing.writeHead(instead.status, instead.headers).end('<html>not the service</html>');
        return;
      }
      const onward = request(`${serviceUrl}${url}`, { method, headers }, (answer) => {
        for (const cookie of answer.headers['set-cookie'] ?? []) {
          cookies.add(/=([^;]+)/.exec(cookie)?.[1] ?? '');
        }
        outgoing.sendDate = false;
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    };
    setTimeout(pass, delayMs(method));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    cookies,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
