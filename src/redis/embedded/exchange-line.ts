import { connect } from 'node:net';
import type { DurationMs } from '../../base/time.ts';

/**
 * Sends commands in Redis's inline form, one a line, and waits for the first line of the answer.
 * @returns undefined when nothing answers within the time
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
