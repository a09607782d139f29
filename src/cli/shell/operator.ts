import { userInfo } from 'node:os';
import { UsageFailure } from './command.ts';
import { readAnswer } from './read-answer.ts';

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

/** Where a person may answer. */
export type AnswerInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

interface ConsentParts {
  /** `--yes`: asked and answered. */
  readonly yes: boolean;
  readonly input: AnswerInput;
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
    throw new UsageFailure(refusal ?? 'this deletes, and nobody can be asked here: add --yes if you mean it');
  }
  return async (question, stop) => {
    const answer = await readAnswer(input, () => output.write(`${question} [y/N] `), stop);
    // The end of the input, or Ctrl-C: no answer is no consent. What follows starts on a line of its own.
    if (answer === undefined) output.write('\n');
    return /^\s*y(es)?\s*$/i.test(answer ?? '');
  };
}
