import { createInterface } from 'node:readline/promises';
import { withEitherSignal } from '../../base/waiting.ts';

/**
 * Asks a question and reads one line. It asks only once it handles Ctrl-C: a Ctrl-C right after the question appears ends
 * the question, not the process. The terminal itself shows and edits the line, because readline would write cursor
 * movements, which a safe stream shows as text.
 * @returns undefined without an answer: the input ended, Ctrl-C was pressed, or a signal fired
 */
export async function readAnswer(
  input: NodeJS.ReadableStream,
  ask: () => void,
  stop?: AbortSignal,
): Promise<string | undefined> {
  const lines = createInterface({ input, terminal: false });
  const ended = new AbortController();
  const end = () => ended.abort();
  lines.once('close', end);
  process.once('SIGINT', end);
  ask();
  try {
    return await withEitherSignal([ended.signal, ...(stop === undefined ? [] : [stop])], (signal) =>
      lines.question('', { signal }),
    );
  } catch (error) {
    if (ended.signal.aborted || stop?.aborted === true) return undefined;
    throw error;
  } finally {
    process.off('SIGINT', end);
    lines.close();
  }
}
