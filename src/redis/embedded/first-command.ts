import type { Server } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * Sends a command to a server that does not listen yet, by a connection in memory, in Redis's inline form.
 * @returns the first line of the answer
 */
export function sendFirstCommand(server: Server, command: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const connection = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        done();
        answer += bytes.toString();
        const end = answer.indexOf('\r\n');
        if (end === -1) return;
        connection.push(null);
        resolve(answer.slice(0, end));
      },
    });
    server.emit('connection', connection);
    connection.push(`${command}\r\n`);
  });
}
