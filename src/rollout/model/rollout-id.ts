import { invariant } from '../../base/assert.ts';

/** Finds rollouts in a text. Names of policies have no spaces. */
export const rolloutIdPattern = /([^\s,:;'"`()]+-\d{8}-\d+)/;

const rolloutIdShape = /^(.+)-(\d{8})-(\d+)$/;

/** Whether a text has the form of a rollout id. The name of a policy does not. */
export function isRolloutId(text: string): boolean {
  return rolloutIdShape.test(text);
}

/** The parts of `<policy>-<yyyymmdd>-<n>`; the policy may have dashes of its own. */
export function parseRolloutId(rolloutId: string): { policy: string; yyyymmdd: string; number: number } {
  const match = rolloutIdShape.exec(rolloutId);
  const [, policy, yyyymmdd, number] = match ?? [];
  invariant(policy !== undefined && yyyymmdd !== undefined, `${rolloutId} is not a rollout id`);
  return { policy, yyyymmdd, number: Number(number) };
}

/**
 * The policy of an entry of the audit: `production-20261123-1 wave rest`, or `Linux / amd64 of production-20261123-1`.
 * Other subjects name no rollout.
 */
export function policyOfAudit(entry: {
  readonly event: string;
  readonly subject: string;
}): string | undefined {
  const named = entry.subject.split(' ').at(entry.event.startsWith('stratum.') ? -1 : 0) ?? '';
  return isRolloutId(named) ? parseRolloutId(named).policy : undefined;
}
