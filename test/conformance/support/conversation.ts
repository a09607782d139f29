import { connect } from 'node:net';
import { AnswerParser, type WireAnswer } from './answer-parser.ts';

/** What is said over one connection. */
export interface Conversation {
  /** Written one after the other; what a request is, the service must find out. */
  readonly writes: readonly Buffer[];
  /** How many answers to wait for; fewer come when the service closes the connection. */
  readonly answersMax: number;
  readonly isHead: (index: number) => boolean;
  /** After the last write: wait for the answers, say that nothing more comes, or go away at once. */
  readonly ending: 'wait' | 'halfClose' | 'leave';
}

export interface Said {
  readonly answers: readonly WireAnswer[];
  /** True when the service closed the connection before all answers came. */
  readonly closed: boolean;
}

// Far above the slowest honest answer, on a machine that is busy with other things.
const patienceMs = 20_000;

/**
 * Has a conversation over a raw socket.
 * @throws when the service hangs, or answers something that is no HTTP
 */
export function converse(port: number, conversation: Conversation): Promise<Said> {
  const parser = new AnswerParser(conversation.isHead);
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  return new Promise((resolve, reject) => {
    let settled = false;
    const settle = (end: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      // A reset leaves no socket waiting; there are tens of thousands of these.
      socket.resetAndDestroy();
      end();
    };
    const finish = (closed: boolean) => settle(() => resolve({ answers: parser.answers, closed }));
    const timer = setTimeout(
      () => settle(() => reject(new Error(`the service hung: no answer within ${patienceMs} ms`))),
      patienceMs,
    );
    socket.on('data', (chunk) => {
      try {
        parser.feed(chunk);
      } catch (error) {
        settle(() => reject(error as Error));
        return;
      }
      if (parser.answers.length >= conversation.answersMax) finish(false);
    });
    socket.on('end', () => {
      if (parser.isAtBoundary || conversation.ending !== 'wait') finish(true);
      else settle(() => reject(new Error('the connection ended amid an answer')));
    });
    // A service may cut off who talks nonsense, or who still talks after its last word.
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
    socket.on('connect', () => {
      write(0);
    });
    const write = (index: number): void => {
      const chunk = conversation.writes[index];
      if (settled) return;
      if (chunk === undefined) {
        if (conversation.ending === 'halfClose') socket.end();
        if (conversation.ending === 'leave') setImmediate(() => finish(false));
        return;
      }
      // The next piece leaves in its own turn, so that the service sees the pieces apart.
      socket.write(chunk, () => setImmediate(() => write(index + 1)));
    };
  });
}
