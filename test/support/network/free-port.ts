import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCodeOf } from '../../../src/base/node-errors.ts';

// Below those that a system gives out by itself (Linux from 32768, others from 49152), so that what is free stays free:
// no server that takes any port gets it meanwhile, nor the near end of a connection, of which one that asks a dead port
// again and again meets itself in the end. A Redis Cluster's own bus, 10,000 ports higher, is below them, too.
const first = 12_000;
const count = 10_000;

// Test files run in two processes: each has its turn at another place, and goes on from there.
let next = process.pid * 97;

/** A port of 127.0.0.1 on which nobody listens, and which no other test is given. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < count; tried += 1) {
    const port = first + (next % count);
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${first} to ${first + count - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (errorCodeOf(error) === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
