import type { EpochMs } from '../../base/time.ts';
import { type ForeignAccount, needsPerson } from '../model/account.ts';
import { isRolloutEnd, type RolloutView } from '../model/rollout.ts';
import { countOpen, isOnlyUnreadableOpen } from './assess.ts';
import type { Decision } from './decision.ts';

/**
 * A daemon does nothing for a rollout that may belong to another account (P5, P14). It only ends a rollout that an operator
 * ended, because the daemon of that account may never come back: waiting upgrades are withdrawn, and those that may be
 * running are given up once the service itself must have ended them.
 */
export function decideForeign(view: RolloutView, account: ForeignAccount, now: EpochMs): Decision {
  const blocker = { kind: 'account', account, until: null } as const;
  if (!needsPerson(account) || !isRolloutEnd(view.rollout.state))
    return { actions: [], blockers: [blocker], wakeAt: null };
  const { waiting, open } = countOpen(view);
  const overAt = allOverAt(view);
  const isOnlyUnreadable = isOnlyUnreadableOpen(view);
  if (open === 0 || (isOnlyUnreadable && now >= overAt))
    return { actions: [{ do: 'save', change: { kind: 'closed' } }], blockers: [], wakeAt: null };
  if (waiting > 0 && !isOnlyUnreadable) {
    const reason = { kind: 'rolloutOver', state: view.rollout.state } as const;
    return { actions: [{ do: 'withdrawWaiting', reason }], blockers: [blocker], wakeAt: null };
  }
  if (now < overAt) {
    const blockers = [{ kind: 'abandoning', upgrades: open, until: overAt } as const];
    return { actions: [], blockers, wakeAt: overAt };
  }
  return { actions: [{ do: 'abandon', reason: { kind: 'unwatched' } }], blockers: [], wakeAt: null };
}

/** No create was sent after the last change of an upgrade, and none runs longer than its deadline and verification. */
export function allOverAt({ rollout, waves }: RolloutView): EpochMs {
  const lastChangeAt = Math.max(rollout.createdAt, ...waves.map((wave) => wave.lastChangeAt ?? 0));
  const { deadlineMs, verifyWithinMs } = rollout.policy.upgrade;
  return lastChangeAt + deadlineMs + verifyWithinMs;
}
