import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageFailure } from '../shell/command.ts';
import { readAnswer } from '../shell/read-answer.ts';

/** Asks a person, one question after the other. Each answer has no blanks around it, and may be empty. */
export interface Ask {
  plain(question: string): Promise<string>;
  /** Asks without showing what is typed. */
  secret(question: string): Promise<string>;
}

/** @throws CommandFailure when a question gets no answer, such as after Ctrl-C */
export function askOn(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Ask {
  const orFail = (answer: string | undefined): string => {
    if (answer !== undefined) return answer.trim();
    output.write('\n');
    throw new UsageFailure('no file was written');
  };
  return {
    plain: async (question) => orFail(await readAnswer(input, () => output.write(question))),
    secret: async (question) => {
      const answer = orFail(await readSecret(input, () => output.write(question)));
      output.write('\n');
      return answer;
    },
  };
}

/** Asks only after the terminal stops echoing, because a key may be pasted as soon as the question appears. */
async function readSecret(input: NodeJS.ReadableStream, ask: () => void): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silent, terminal: true });
  ask();
  const ended = new AbortController();
  lines.once('SIGINT', () => ended.abort());
  lines.once('close', () => ended.abort());
  try {
    return await lines.question('', { signal: ended.signal });
  } catch (error) {
    if (ended.signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
}
