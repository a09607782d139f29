import { invariant } from '../../base/assert.ts';

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
