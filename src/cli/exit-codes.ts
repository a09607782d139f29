/** What the process tells its caller (README, Exit codes). */
export const exitCodes = {
  done: 0,
  finishedWithFailures: 1,
  usageOrConfig: 2,
  heldOrNeedsAPerson: 3,
  unreachable: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
