import { userInfo } from 'node:os';
import { UsageFailure } from './command.ts';
import { readAnswer } from './read-answer.ts';

/** The name of the operator, for the events. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return 'operator';
  }
}

/** Asks before something is deleted; true means continue. */
export type AskConsent = (question: string, stop: AbortSignal) => Promise<boolean>;

/** Where a person may answer. */
export type AnswerInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

interface ConsentParts {
  /** `--yes`: do not ask. */
  readonly yes: boolean;
  readonly input: AnswerInput;
  readonly output: NodeJS.WritableStream;
  /** The message where there is no terminal to ask at. */
  readonly refusal?: string;
}

/**
 * Makes the question before an action that cannot be undone.
 * @throws CommandFailure at once where there is no terminal to ask at and `--yes` is not given
 */
export function makeConsent({ yes, input, output, refusal }: ConsentParts): AskConsent {
  if (yes) return async () => true;
  if (input.isTTY !== true) {
    throw new UsageFailure(
      refusal ?? 'this deletes, and there is no terminal to ask at: add --yes to confirm',
    );
  }
  return async (question, stop) => {
    const answer = await readAnswer(input, () => output.write(`${question} [y/N] `), stop);
    // End of input, or Ctrl-C: no answer is no consent. The next output starts on a new line.
    if (answer === undefined) output.write('\n');
    return /^\s*y(es)?\s*$/i.test(answer ?? '');
  };
}
