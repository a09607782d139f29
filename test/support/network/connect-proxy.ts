import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenHere } from './listen-here.ts';

/**
 * A proxy that opens tunnels (CONNECT), all of them to one port of this machine, whatever host a client names.
 * @param status of the answer to a CONNECT; undefined: it never answers
 */
export async function startConnectProxy(
  targetPort: number,
  { status = () => 200, open = Promise.resolve() }: ProxyHabits = {},
) {
  const tunnels = new Set<Socket>();
  const connects: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const http = createServer((_request, response) => void response.writeHead(405).end());
  http.on('connect', (request, socket: Socket) => {
    const authorization = request.headers['proxy-authorization'];
    connects.push({ target: request.url ?? '', authorization });
    socket.on('error', () => undefined);
    void open.then(() => tunnel(socket, authorization));
  });
  const tunnel = (socket: Socket, authorization: string | undefined): void => {
    const answer = status(authorization);
    if (answer === undefined) return;
    if (answer !== 200) {
      socket.end(`HTTP/1.1 ${answer} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    tunnels.add(socket);
    const behind = connect(targetPort, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    behind.on('error', () => socket.destroy());
    socket.on('close', () => behind.destroy());
    socket.pipe(behind).pipe(socket);
  };
  const { port, close } = await listenHere(http);
  return {
    address: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    connects,
    /** Ends all tunnels, as a proxy that is restarted does. */
    end: () => {
      for (const socket of tunnels) socket.destroy();
    },
    close,
  };
}

interface ProxyHabits {
  readonly status?: (authorization: string | undefined) => number | undefined;
  /** It answers when this is settled. */
  readonly open?: Promise<unknown>;
}
