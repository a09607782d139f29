import { createInterface } from 'node:readline/promises';
import { withEitherSignal } from '../../base/waiting.ts';

/**
 * Asks, and reads one line that a person types. It asks when Ctrl-C is heard: one at the first sight of the question ends
 * the question, not the process. The terminal itself shows and edits it: readline would write cursor movements, and
 * those are shown as text on a stream that is safe for names of collectors.
 * @returns undefined without an answer: the input ends, Ctrl-C, or a signal fires
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
