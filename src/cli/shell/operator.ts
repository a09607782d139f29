import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { withEitherSignal } from '../../base/waiting.ts';
import { CommandFailure } from './command.ts';
import { exitCodes } from './exit-codes.ts';

/** Who asks, for the events. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return 'operator';
  }
}

/** Asks before something is lost; true means go on. */
export type AskConsent = (question: string, stop: AbortSignal) => Promise<boolean>;

interface ConsentParts {
  /** `--yes`: asked and answered. */
  readonly yes: boolean;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
  /** Said where nobody can be asked. */
  readonly refusal?: string;
}

/**
 * Makes the question that stands before what can't be undone.
 * @throws CommandFailure at once where nobody can be asked and `--yes` is not given
 */
export function makeConsent({ yes, input, output, refusal }: ConsentParts): AskConsent {
  if (yes) return async () => true;
  if (input.isTTY !== true) {
    throw new CommandFailure(
      exitCodes.usageOrConfig,
      refusal ?? 'this deletes, and nobody can be asked here: add --yes if you mean it',
    );
  }
  return async (question, stop) => {
    const lines = createInterface({ input, output });
    const ended = new AbortController();
    lines.once('close', () => ended.abort());
    try {
      const answer = await withEitherSignal([stop, ended.signal], (signal) =>
        lines.question(`${question} [y/N] `, { signal }),
      );
      return /^\s*y(es)?\s*$/i.test(answer);
    } catch (error) {
      // The end of the input, or Ctrl-C: no answer is no consent.
      if (stop.aborted || ended.signal.aborted) return false;
      throw error;
    } finally {
      lines.close();
    }
  };
}
