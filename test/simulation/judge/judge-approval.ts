import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import type { Night } from '../night.ts';
import type { SeenRollout } from './seen-rollouts.ts';

// A plan that was shown with its drift is good for so long (approve-plan.ts).
const shownForMs = 10 * 60_000;

// A word and the reading of the fleet behind it take so long, faults not counted.
const slackMs = 120_000;

/** Judges an approval: a plan that drifted is never run without a new one (P14). */
export function judgeApproval(
  { verdicts, serviceOf, scheduler, skewMs, staleMs }: Night,
  of: SeenRollout,
  before: Rollout,
): void {
  const { rollout } = of;
  if (before.state !== 'awaitingApproval' || rollout.state !== 'running') return;
  const plan = `plan ${before.plan.hash}`;
  verdicts.check('P15', of.asked.has(plan), `${rollout.id} runs, and nobody approved ${plan}`);
  const readAt = rollout.plan.fleetReadAt + skewMs;
  const now = scheduler.now();
  // Drift that came while the plan was read again is nobody's fault.
  const until = now - slackMs - staleMs;
  if (before.plan.drift !== null && now - rollout.plan.fleetReadAt <= shownForMs + slackMs + staleMs) return;
  for (const {
    identity: { collectorId, toBuild },
  } of of.upgrades.values()) {
    const collector = serviceOf(rollout.id).collectors.get(collectorId);
    if (collector === undefined) continue;
    const { deletedAt, build, buildSince } = collector;
    const isGone = deletedAt !== null && deletedAt > readAt && deletedAt < until;
    const isThere = isSameBuild(build, toBuild) && buildSince > readAt && buildSince < until;
    verdicts.check(
      'P14',
      !isGone && !isThere,
      `${rollout.id} was approved although ${collectorId} ${isGone ? 'was gone' : 'ran the build'} since its plan was made`,
    );
  }
}
