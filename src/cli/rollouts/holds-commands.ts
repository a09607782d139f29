import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { HeldSubject, HeldThings, HoldAnswer } from '../../contract/admin/holds.ts';
import { holdNoteText } from '../../rollout/messages/hold-command-notes.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { heldBuildName, heldName } from '../../rollout/messages/stratum-reasons.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { CommandFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer, printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { operatorName } from '../shell/operator.ts';
import { showInstant } from '../shell/show-instant.ts';

export interface HoldOptions extends DaemonTarget {
  readonly reason?: string;
}

const words = {
  hold: { done: 'held', unchanged: 'was held already' },
  release: { done: 'released', unchanged: 'was not held' },
} as const;

/**
 * `upwave hold | release <what…>`: when it returns, no upgrade of a held subject starts any more (P4). A subject that cannot
 * be held does not stop the others; a likely typo is a warning on stderr.
 * @throws CommandFailure with all subjects that cannot be held, and the exit code of the first
 */
export async function holdCommand(
  verb: 'hold' | 'release',
  subjects: readonly string[],
  options: HoldOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const results: HoldAnswer[] = [];
  const failures: CommandFailure[] = [];
  for (const subject of subjects) {
    try {
      const request = { subject, by: operatorName(), reason: options.reason ?? '' };
      const result = await withDaemon(options, (client) => client[verb](request));
      results.push(result);
      if (!options.json) {
        output.out.write(`${toPrintable(subjectText(result.subject))}: ${doneText(verb, result)}\n`);
        if (result.note !== undefined)
          output.err.write(`warning: ${toPrintable(holdNoteText(result.note))}${undoText(result)}\n`);
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

/** A group that looks like a typo is held all the same: it may have collectors tomorrow. */
function undoText({ subject, note }: HoldAnswer): string {
  if (subject.kind !== 'group' || note?.kind !== 'groupEmpty') return '';
  return `; \`upwave release ${quoteArgument(subject.label)}\` takes the hold back`;
}

function doneText(verb: 'hold' | 'release', { kind, subject, collectors, note }: HoldAnswer): string {
  const did = words[verb][kind];
  if (verb === 'hold' && collectors !== undefined)
    return `${did}: ${counted(collectors, 'collector')} of running rollouts`;
  // The operator may have had further reasons for the hold, so its rollouts need a `resume` of their own.
  if (verb !== 'release' || kind !== 'done') return did;
  if (subject.kind === 'build')
    return `${did}; \`upwave status\` shows how to resume a rollout that was held for it`;
  return subject.kind === 'collector' && note === undefined ? `${did}; the next scan plans it again` : did;
}

function subjectText(subject: HeldSubject): string {
  switch (subject.kind) {
    case 'build':
      return `build ${subject.build}`;
    case 'collector':
      return subject.name === String(subject.collectorId)
        ? `collector ${subject.name}`
        : `collector ${subject.collectorId} ${subject.name}`;
    case 'group':
      return `group ${subject.label}`;
    case 'stratum':
      return `${heldName(subject.label)} of ${subject.rolloutId}`;
    default:
      return subject satisfies never;
  }
}

/** `upwave holds`: lists everything that is held until an operator releases it. */
export async function holdsCommand(options: DaemonTarget, output: ConsoleOutput): Promise<ExitCode> {
  const held = await withDaemon(options, (client) => client.listHolds());
  return printAnswer(output, options, held, () => renderHolds(held, Date.now()));
}

/** One line for each hold: what, by whom, since when and why. */
export function renderHolds({ builds, collectors, groups, strata: all }: HeldThings, now: EpochMs): string {
  // The rollouts that hold it, too.
  const labels = new Set(groups.map(({ label }) => label));
  const strata = all.filter(({ label }) => !labels.has(label));
  const things = [
    ...builds.map((hold) => ({ ...hold, what: heldBuildName(hold) })),
    ...collectors.map((hold) => ({ ...hold, what: collectorText(hold) })),
    ...groups.map((hold) => ({ ...hold, what: `group ${hold.label}` })),
    ...strata.filter(({ isEnded }) => !isEnded).map((hold) => ({ ...hold, what: stratumText(hold) })),
  ];
  const lines = [...things, ...endedHolds(strata.filter(({ isEnded }) => isEnded))].map(
    ({ what, by, at, reason }) => {
      const why = reason === '' ? '' : `: ${reason}`;
      return `${what}   by ${by}, since ${showInstant(at, now)}${why}`;
    },
  );
  return lines.length === 0 ? 'nothing is held' : lines.map(toPrintable).join('\n');
}

/**
 * Held strata of ended rollouts: the first of each rollout, and how many more. They matter only if the rollout is opened
 * again.
 */
function endedHolds(strata: HeldThings['strata']) {
  return [...new Set(strata.map(({ rolloutId }) => rolloutId))].flatMap((id) => {
    const [first, ...others] = strata.filter(({ rolloutId }) => rolloutId === id);
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return [{ ...first, what: `${heldName(first.label)}${more} of ${id}, which has ended` }];
  });
}

function collectorText({ collectorId, name }: HeldThings['collectors'][number]): string {
  return name === undefined ? `collector ${collectorId}` : `collector ${collectorId} ${name}`;
}

function stratumText({ label, policy, rolloutId }: HeldThings['strata'][number]): string {
  return `${heldName(label)} of ${policy} (${rolloutId})`;
}
