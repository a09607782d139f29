import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { isHeadline } from '../../rollout/status/headline.ts';

/** What the process reports to its caller (DESIGN §5, Commands). */
export const exitCodes = {
  done: 0,
  finishedWithFailures: 1,
  usageOrConfig: 2,
  heldOrNeedsAPerson: 3,
  unreachable: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit code for several rollouts. "Needs a person" comes before "failed". */
export function exitCodeOf(statuses: readonly Pick<RolloutStatus, 'headline'>[]): ExitCode {
  if (statuses.some(({ headline }) => headline.needsPerson)) return exitCodes.heldOrNeedsAPerson;
  return statuses.some(({ headline }) => isHeadline(headline.kind, 'failed'))
    ? exitCodes.finishedWithFailures
    : exitCodes.done;
}
