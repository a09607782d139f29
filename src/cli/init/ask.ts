import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';

/** Asks a person, one question after the other. Each answer has no blanks around it, and may be empty. */
export interface Ask {
  plain(question: string): Promise<string>;
  /** What is typed is not shown. */
  secret(question: string): Promise<string>;
}

/** @throws CommandFailure by a question that nobody answers, as with Ctrl-C */
export function askOn(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Ask {
  const ask = async (question: string, echo: NodeJS.WritableStream): Promise<string> => {
    output.write(question);
    const lines = createInterface({ input, output: echo, terminal: true });
    const ended = new AbortController();
    lines.once('SIGINT', () => ended.abort());
    lines.once('close', () => ended.abort());
    try {
      return (await lines.question('', { signal: ended.signal })).trim();
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      throw new CommandFailure(exitCodes.usageOrConfig, 'nothing is written', { cause: error });
    } finally {
      lines.close();
    }
  };
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    plain: (question) => ask(question, output),
    secret: async (question) => {
      const answer = await ask(question, silent);
      output.write('\n');
      return answer;
    },
  };
}
