import { createServer } from 'node:https';
import { listenHere } from './listen-here.ts';
import type { TestCertificates } from './make-certificates.ts';

/** A server with this certificate that gives every request the same answer. */
export async function startTlsServer(
  { server }: Pick<TestCertificates, 'server'>,
  answer: { readonly status: number; readonly json?: string },
) {
  /** How many requests came through. */
  let asked = 0;
  const https = createServer(server, (_request, response) => {
    asked += 1;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.json);
  });
  const { port, close } = await listenHere(https);
  return { url: `https://127.0.0.1:${port}`, asked: () => asked, close };
}
