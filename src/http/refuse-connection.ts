import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpAnswer, HttpRequest, RequestFailure } from './operation-handlers.ts';

/** Statuses of errors below HTTP. Any other error is a 400. */
const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers bytes that are no valid request, and closes the connection, because what follows is unreadable. */
export function refuseConnection(
  parts: { readonly answerFailure: (failure: RequestFailure, request: HttpRequest) => HttpAnswer },
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  const request = { ...noRequest, remoteAddress: socket.remoteAddress ?? '' };
  const answer = parts.answerFailure({ kind: 'unreadable', status, error }, request);
  const stated = answer.headers?.['content-type'];
  const body =
    stated !== undefined && typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  socket.end(
    [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Error'}`,
      `Content-Type: ${stated ?? 'application/json; charset=utf-8'}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

const noRequest: Omit<HttpRequest, 'remoteAddress'> = {
  method: '',
  path: '',
  url: '',
  headers: {},
  httpVersion: '',
  hasBody: false,
  body: '',
  operation: undefined,
};

/** True while an earlier response on the connection is half written. Node shows it on the socket only. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { headersSent?: boolean } | null };
  return message?.headersSent === true;
}
