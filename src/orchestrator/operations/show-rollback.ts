import { unansweredText } from '../../rollout/messages/explanations.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { isEnd, mayHaveBuild, upgradeStates } from '../../rollout/model/upgrade.ts';
import { previewRest, previewRollback } from '../../rollout/status/preview-rollback.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { judgeVerb, type VerbJudgement } from '../../rollout/verbs/judge-verb.ts';
import { asFollowed, type FollowConfigsParts } from '../configs/follow-configs.ts';
import { divideUpgraded } from '../lead/roll-back.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import { listUpgradesIn, loadRolloutSummary } from '../records/read-records.ts';
import type { ApprovePlanParts } from './approve-plan.ts';
import type { RollbackPreviewResult } from './operations.ts';

type ShowResult =
  | Exclude<RollbackPreviewResult, { readonly kind: 'refused' }>
  | Extract<VerbJudgement, { readonly kind: 'refused' }>;

export interface ShowRollbackParts extends ApprovePlanParts, FollowConfigsParts {
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
}

// An operator waits for the preview, perhaps to stop a bad build.
const answerWithinMs = 5_000;

/**
 * Shows what a rollback would do now, from the records and the offered builds. Reading the whole inventory would delay an
 * operator who wants to stop a bad build. For a running rollback it shows the remaining work.
 */
export async function showRollback(parts: ShowRollbackParts, rolloutId: string): Promise<ShowResult> {
  const view = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
  if (view === undefined) return { kind: 'unknownRollout' };
  const { startedAs } = view.rollout.rollback;
  const rollback =
    startedAs === null ? undefined : await loadRolloutSummary(parts, startedAs, parts.clock.now());
  // An ended rollout follows no config, and gets the current limits when its rollback starts.
  return previewOf(parts, await asFollowed(parts, rollback ?? view));
}

async function previewOf(parts: ShowRollbackParts, view: RolloutView): Promise<ShowResult> {
  const { store, clock } = parts;
  const { rollout } = view;
  const judgement = judgeVerb(view, { verb: 'rollback', now: true }, { by: '', reason: '', at: clock.now() });
  if (judgement.kind === 'refused') return judgement;
  const { requestsPerSecondNow: requestsPerSecond } = await parts.readApiBudgetStatus();
  const at = { now: clock.now(), requestsPerSecond };
  if (rollout.kind === 'rollback') {
    const openStates = upgradeStates.filter((state) => !isEnd(state));
    const open = await listUpgradesIn(store, rollout.id, openStates);
    const preview = previewRest(view, [...open.values()], at);
    return { kind: 'shown', preview, left: view.rollout.rollback.leftBehind };
  }
  const builds = await parts.fleet.listBuilds(AbortSignal.timeout(answerWithinMs));
  if (!builds.ok) {
    const { failure } = builds;
    // Cancelled by the limit above.
    const why = failure.kind === 'cancelled' ? unansweredText(answerWithinMs) : describeFailure(failure);
    return { kind: 'unavailable', reason: `the available builds are unknown: ${why}` };
  }
  const upgrades = await listUpgradesIn(store, rollout.id, upgradeStates.filter(mayHaveBuild));
  const context = { policy: rollout.policy.name, builds: builds.value };
  const parted = await divideUpgraded(parts, [...upgrades.values()], context);
  const isMoved = view.groups.strata.some(({ attributes }) => attributes !== undefined);
  const table = isMoved ? await store.loadAttributes(rollout.id) : undefined;
  return { kind: 'shown', preview: previewRollback(view, parted, at, table), left: parted.left };
}
