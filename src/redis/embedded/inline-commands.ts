import { connect, type Server } from 'node:net';
import { Duplex } from 'node:stream';
import type { DurationMs } from '../../base/time.ts';

/**
 * Sends commands in Redis's inline form, one a line, and waits for the first line of the reply.
 * @returns undefined when nothing answers in time
 */
export function exchangeLine(
  port: number,
  commands: string,
  withinMs: DurationMs,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let answer = '';
    const settle = (line: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(line);
    };
    const timer = setTimeout(() => settle(undefined), withinMs);
    socket.on('error', () => settle(undefined));
    socket.on('close', () => settle(undefined));
    socket.on('data', (bytes) => {
      answer += bytes.toString();
      const end = answer.indexOf('\r\n');
      if (end !== -1) settle(answer.slice(0, end));
    });
    socket.write(`${commands}\r\n`);
  });
}

/**
 * Sends a command in Redis's inline form to a server that does not listen yet, over an in-memory connection.
 * @returns the first line of the reply
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
