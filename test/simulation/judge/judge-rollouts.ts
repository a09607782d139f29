import { rolloutReasonText } from '../../../src/rollout/messages/rollout-reasons.ts';
import { isRolloutEnd, type Rollout } from '../../../src/rollout/model/rollout.ts';
import { isEnd, isFailed } from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';
import type { SeenRollout } from './seen-rollouts.ts';

/** Judges what a saved rollout says of itself: P6 (pinned), P9 (adds up), P14 (holds have words), P15 (the hold that was meant). */
export function judgeRollout({ verdicts }: Night, of: SeenRollout, before: Rollout): void {
  const { rollout } = of;
  const { id, state } = rollout;
  verdicts.check(
    'P6',
    rollout.plan.targetBuild === before.plan.targetBuild,
    `${id} changed its target to ${rollout.plan.targetBuild}`,
  );
  verdicts.check(
    'P14',
    state === 'running' || rolloutReasonText(rollout.reason).trim() !== '',
    `${id} is ${state} without a reason`,
  );
  const { hold } = before;
  verdicts.check(
    'P15',
    hold === null || state !== 'running' || hold.heldFor !== undefined || of.asked.has(`hold ${hold.number}`),
    `${id} runs, and nobody resumed hold ${hold?.number}`,
  );
  const reopens = before.state === 'finishedWithFailures' && state === 'running';
  const rollsBack = state === 'rollingBack' || (before.state === 'rollingBack' && state === 'rolledBack');
  const staysOver = !isRolloutEnd(before.state) || before.state === state || reopens || rollsBack;
  verdicts.check('P9', staysOver, `${id} went from ${before.state} to ${state}`);
  if (rollout.endedAt === null || before.endedAt !== null) return;
  const open = [...of.upgrades.values()].find((upgrade) => !isEnd(upgrade.progress.state));
  verdicts.check(
    'P9',
    open === undefined,
    `${id} is over while ${open?.identity.collectorId} is ${open?.progress.state}`,
  );
  const failed = [...of.upgrades.values()].find((upgrade) => isFailed(upgrade.progress.state));
  verdicts.check(
    'P9',
    state !== 'succeeded' || failed === undefined,
    `${id} succeeded while ${failed?.identity.collectorId} ${failed?.progress.state}`,
  );
}
