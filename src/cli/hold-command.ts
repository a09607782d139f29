import { toPrintable } from '../base/printable.ts';
import type { HoldAnswerBody } from '../contract/held-things.ts';
import type { HeldSubject } from '../orchestrator/operations.ts';
import { holdNoteWords } from '../rollout/hold-notes.ts';
import { CommandFailure } from './command-failure.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { operatorName } from './operator-name.ts';
import { printJson } from './print-json.ts';

export interface HoldOptions extends DaemonTarget {
  readonly reason?: string;
  readonly json: boolean;
}

const words = {
  hold: { done: 'held', unchanged: 'was held already' },
  release: { done: 'released', unchanged: 'was not held' },
} as const;

/**
 * `upwave hold | release <what…>`: when it returns, nothing more starts of what is held (P4). What can't be held keeps
 * nothing else from being held; a likely slip is a warning on stderr. @throws CommandFailure with all that can't be, and the exit code of the first
 */
export async function holdCommand(
  verb: 'hold' | 'release',
  subjects: readonly string[],
  options: HoldOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const results: HoldAnswerBody[] = [];
  const failures: CommandFailure[] = [];
  for (const subject of subjects) {
    try {
      const request = { subject, by: operatorName(), reason: options.reason ?? '' };
      const result = await withDaemon(options, (client) => client[verb](request));
      results.push(result);
      if (!options.json) {
        output.out.write(`${toPrintable(subjectWords(result.subject))}: ${didWords(verb, result)}\n`);
        if (result.note !== undefined)
          output.err.write(`warning: ${toPrintable(holdNoteWords(result.note))}\n`);
      }
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failures.push(error);
    }
  }
  const [only] = results;
  if (options.json && only !== undefined) printJson(output, subjects.length === 1 ? only : { results });
  const [first, second] = failures;
  if (first === undefined) return exitCodes.done;
  if (second === undefined) throw first;
  throw new CommandFailure(first.exitCode, failures.map(({ message }) => message).join('\n  '));
}

function didWords(verb: 'hold' | 'release', { kind, subject }: HoldAnswerBody): string {
  const did = words[verb][kind];
  // Who held it may have wanted more than that, so its rollouts wait for a word of their own.
  const isMore = verb === 'release' && kind === 'done' && subject.kind === 'build';
  return isMore ? `${did}; \`upwave status\` shows how to resume a rollout that was held for it` : did;
}

function subjectWords(subject: HeldSubject): string {
  switch (subject.kind) {
    case 'build':
      return `build ${subject.build}`;
    case 'collector':
      return subject.name === String(subject.collectorId)
        ? `collector ${subject.name}`
        : `collector ${subject.collectorId} ${subject.name}`;
    case 'stratum':
      return `stratum ${subject.label} of ${subject.rolloutId}`;
    default:
      return subject satisfies never;
  }
}
