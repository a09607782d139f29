import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from './listen-here.ts';

/** Opens a TCP proxy for a port of this machine. The test can cut its connections. */
export async function openTcpProxy(targetPort: number) {
  const pairs = new Set<readonly [inner: Socket, outer: Socket]>();
  let state: 'open' | 'refuse' | 'swallow' = 'open';

  const join = (inner: Socket) => {
    if (state === 'refuse') {
      inner.destroy();
      return;
    }
    const outer = connect({ host: '127.0.0.1', port: targetPort });
    const pair = [inner, outer] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    inner.pipe(outer);
    outer.pipe(inner);
    if (state === 'swallow') block(pair);
  };
  const server = createServer(join);

  const endAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    ...(await listenHere(server)),
    /**
     * `refuse`: open connections are reset, and new ones are refused, as by a host that is down. `swallow`: everything
     * stays open and nothing arrives, as with a cable that is cut.
     */
    cut: (how: 'refuse' | 'swallow') => {
      state = how;
      if (how === 'refuse') endAll();
      else for (const pair of pairs) block(pair);
    },
    /**
     * @param whom `all`: open connections are reset, so that all clients reconnect. `newcomers`: open ones stay
     * silent for ever, as behind a firewall that has forgotten it; only new connections come through.
     */
    heal: (whom: 'all' | 'newcomers') => {
      // Bytes that were sent while the connection was cut are lost, so both ends have to reconnect.
      if (whom === 'all') endAll();
      state = 'open';
    },
  };
}

function block([inner, outer]: readonly [inner: Socket, outer: Socket]): void {
  inner.unpipe(outer);
  outer.unpipe(inner);
  for (const socket of [inner, outer]) socket.pause();
}
