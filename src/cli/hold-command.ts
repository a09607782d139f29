import { toPrintable } from '../observability/printable.ts';
import type { HeldSubject } from '../orchestrator/operations.ts';
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

/** `upwave hold | release <what…>`: when it returns, nothing more starts of what is held (P4). */
export async function holdCommand(
  verb: 'hold' | 'release',
  subject: string,
  options: HoldOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const result = await withDaemon(options, (client) =>
    client[verb]({ subject, by: operatorName(), reason: options.reason ?? '' }),
  );
  if (options.json) printJson(output, result);
  else output.out.write(`${toPrintable(subjectWords(result.subject))}: ${words[verb][result.kind]}\n`);
  return exitCodes.done;
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
