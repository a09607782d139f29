import { userInfo } from 'node:os';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { CommandFailure } from './command.ts';
import { exitCodes } from './exit-codes.ts';
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

/** Where a person may answer. */
export type AnswerInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

interface ConsentParts {
  /** `--yes`: do not ask. */
  readonly yes: boolean;
  /** Default: the standard input. */
  readonly input?: AnswerInput | undefined;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks whether to continue.
 * @param parts `reason`: of the operator, which the command repeats; absent: none
 * @throws CommandFailure when the answer is no, and without a terminal to ask at (exit code 3): then it has the command that confirms it
 */
export function confirm(
  question: string,
  command: string,
  { reason = '', ...parts }: ConsentParts & { readonly reason?: string | undefined },
): Promise<void> {
  const why = reason === '' ? '' : ` --reason ${quoteArgument(reason)}`;
  return makeConsent(parts, `${question}\n  To confirm it, run: ${command}${why}`)(question);
}

/**
 * Makes the question before an action that cannot be undone. The question is answered by yes, or throws CommandFailure.
 * @throws CommandFailure at once where there is no terminal to ask at and `--yes` is not given
 */
export function makeConsent(
  { yes, input = process.stdin, output }: ConsentParts,
  refusal = 'this deletes, and there is no terminal to ask at: add --yes to confirm',
): (question: string, stop?: AbortSignal) => Promise<void> {
  if (yes) return async () => undefined;
  if (input.isTTY !== true) throw new CommandFailure(exitCodes.heldOrNeedsAPerson, refusal);
  return async (question, stop) => {
    const answer = await readAnswer(input, () => output.write(`${question} [y/N] `), stop);
    // End of input, or Ctrl-C: no answer is no consent. The next output starts on a new line.
    if (answer === undefined) output.write('\n');
    if (!/^\s*y(es)?\s*$/i.test(answer ?? ''))
      throw new CommandFailure(exitCodes.finishedWithFailures, 'nothing changed');
  };
}
