import type { Socket } from 'node:net';
import { Cluster, type Redis } from 'ioredis';

/**
 * Sends the commands of one turn of the event loop in one write, because each write takes as long as a small command does,
 * here and in Redis. The status of a rollout is a dozen commands, and several are read in the same turn.
 */
export function writeTogether(client: Redis | Cluster): void {
  if (client instanceof Cluster) {
    client.on('+node', writeTogether);
    return;
  }
  // A client has another socket after each reconnect.
  client.on('connect', () => collectWrites(client.stream));
}

function collectWrites(socket: Socket): void {
  const write: (...chunk: never[]) => boolean = socket.write.bind(socket);
  let isCollecting = false;
  socket.write = ((...chunk: never[]) => {
    if (!isCollecting) {
      isCollecting = true;
      socket.cork();
      process.nextTick(() => {
        isCollecting = false;
        socket.uncork();
      });
    }
    return write(...chunk);
  }) as never;
}
