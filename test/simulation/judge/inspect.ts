import { loadRolloutSummary } from '../../../src/orchestrator/records/read-records.ts';
import { decide } from '../../../src/rollout/decision/decide.ts';
import { holdsSlot, isEnd, upgradeStates } from '../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../src/rollout/status/explain.ts';
import { describeRollout } from '../../../src/rollout/status/status.ts';
import { anApiBudgetStatus } from '../../support/builders.ts';
import { quietView } from '../../support/quiet-parts.ts';
import type { Night } from '../night.ts';
import { requestsPerSecond } from '../world/daemon-model.ts';
import type { SeenRollout } from './seen-rollouts.ts';
import { wordsOf } from './verdicts.ts';

// Each view is shown with a few of its collectors.
const explainedMax = 4;

/**
 * Looks at a rollout as an operator does: the counters add up (P9), each hold has words, nothing waits without a cause (P16),
 * and nothing throws.
 */
export async function inspect(night: Night, of: SeenRollout): Promise<void> {
  const { verdicts, scheduler } = night;
  const { id } = of.rollout;
  const now = scheduler.now();
  const view = await loadRolloutSummary({ ...night, ...quietView }, id, now);
  // Meanwhile the store may have lost it.
  if (view === undefined) return verdicts.check('P9', !night.seen.all.has(id), `${id} is gone`);
  for (const [index, { counts }] of view.waves.entries()) {
    const members = [...of.upgrades.values()].filter(({ identity: { wave } }) => wave === index);
    for (const state of upgradeStates) {
      const counted = members.filter((upgrade) => upgrade.progress.state === state).length;
      verdicts.check(
        'P9',
        counts[state] === counted,
        `${id}: wave ${index} counts ${counts[state]} ${state}, and has ${counted}`,
      );
    }
  }
  const slots = [...of.upgrades.values()].filter(({ progress: { state } }) => holdsSlot(state)).length;
  verdicts.check(
    'P9',
    view.slotsTaken === slots,
    `${id}: ${view.slotsTaken} slots are counted, ${slots} are taken`,
  );
  const { actions, blockers, wakeAt } = decide(view, now);
  const waits = actions.length === 0 && blockers.length === 0 && wakeAt === null;
  const isOnItsWay = [...of.upgrades.values()].some(
    ({ progress: { state } }) => state !== 'pending' && state !== 'retrying' && !isEnd(state),
  );
  const isOver = view.rollout.endedAt !== null;
  verdicts.check('P16', isOver || isOnItsWay || !waits, `${id} waits for nothing that it names`);
  try {
    const status = describeRollout(view, now, anApiBudgetStatus({ requestsPerSecondMax: requestsPerSecond }));
    for (const { reason } of status.blockers)
      verdicts.check('words', reason.trim() !== '', `${id}: a hold has no words`);
    for (const upgrade of [...of.upgrades.values()].slice(0, explainedMax)) {
      const { reason } = explainUpgrade(view, upgrade, now);
      verdicts.check(
        'words',
        reason.trim() !== '',
        `${id}: ${upgrade.identity.collectorId} has no explanation`,
      );
    }
  } catch (error) {
    verdicts.check('words', false, `${id}: ${wordsOf(error)}`);
  }
}

/** Notes when a rollout is expected to end, as it is seen first. */
export async function noteEstimate(night: Night, of: SeenRollout): Promise<void> {
  const now = night.scheduler.now();
  const view = await loadRolloutSummary({ ...night, ...quietView }, of.rollout.id, now);
  if (view === undefined || of.rollout.state !== 'running') return;
  const api = anApiBudgetStatus({ requestsPerSecondMax: requestsPerSecond });
  const { eta } = describeRollout(view, now, api);
  of.estimatedEnd = eta?.kind === 'at' ? eta.at : null;
}
