import type { HeadlineKind } from '../rollout/headline.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** It has ended, or is ending, and did not come to what was asked for. */
const badEnds: ReadonlySet<HeadlineKind> = new Set([
  'finishedWithFailures',
  'aborted',
  'rolledBack',
  'superseded',
]);

/** What rollouts come to for the caller of a command: who has to act comes before what failed. */
export function exitCodeOf(statuses: readonly Pick<RolloutStatus, 'headline'>[]): ExitCode {
  if (statuses.some(({ headline }) => headline.needsPerson)) return exitCodes.heldOrNeedsAPerson;
  return statuses.some(({ headline }) => badEnds.has(headline.kind))
    ? exitCodes.finishedWithFailures
    : exitCodes.done;
}
