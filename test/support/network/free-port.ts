import { createSocket } from 'node:dgram';
import { type EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { errorCodeOf } from '../../../src/base/node-errors.ts';

// Below the ephemeral ports (Linux from 32768, others from 49152), so that a free port stays free:
// no server with a dynamic port and no outgoing connection gets it. A connection that retries a closed ephemeral port
// can connect to itself. The bus of a Redis Cluster, 10,000 ports higher, is below the ephemeral ports, too.
const first = 12_000;
const count = 10_000;

// Test files run in several processes. Each starts at another port.
let next = process.pid * 97;

/** A port of 127.0.0.1 on which no server listens, and which no other test gets while this process runs. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < count; tried += 1) {
    const port = first + (next % count);
    next += 1;
    if ((await isFree(port)) && (await claim(port))) return port;
  }
  throw new Error(`no port from ${first} to ${first + count - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  if (!(await isBound(server))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * Keeps the port for this process, also while its server is down: a test that kills a Redis and starts it again would meet
 * the Redis of another test there. UDP has ports of its own, and the system frees this one with the process.
 * @returns false if another process has it
 */
function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  return isBound(socket);
}

async function isBound(socket: EventEmitter): Promise<boolean> {
  try {
    await once(socket, 'listening');
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EADDRINUSE') return false;
    throw error;
  }
}
