import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { Accounts } from '../orchestrator/accounts.ts';

/**
 * Whether rollouts of another account wait in this Redis. Ready all the same: the daemon works on what is its own, and has
 * to be reached by whoever aborts what is not.
 */
export function accountReadiness(accounts: Pick<Accounts, 'foreign'>): ReadinessCheck {
  const foreign = accounts.foreign();
  if (foreign.length === 0) return { ok: true, reason: 'every rollout on its way is of this account' };
  const reasons = foreign.map(({ rolloutId, reason }) => `${rolloutId} is left alone: ${reason}`);
  return { ok: true, reason: `needs a person: ${reasons.join('; ')}` };
}
