import { assertNever } from '../../base/assert.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import { isForeign } from '../../rollout/model/account.ts';
import type { LeftBehind } from '../../rollout/model/left-behind.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import { failedStates, type Upgrade } from '../../rollout/model/upgrade.ts';
import { makeFailureFilter, shownCauseOf, summarizeFailed } from '../../rollout/status/failure-filter.ts';
import { isAsShown, shownOf } from '../../rollout/status/preview-rollback.ts';
import { judgeVerb, type VerbJudgement, verbTraits } from '../../rollout/verbs/judge-verb.ts';
import type { Refusal } from '../../rollout/verbs/refusal.ts';
import { type FollowConfigsParts, followRollout } from '../configs/follow-configs.ts';
import type { Accounts } from '../ports/accounts.ts';
import { changeRollout, stopRollout } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from '../records/change-upgrade.ts';
import { listAllUpgrades, loadRolloutSummary } from '../records/read-records.ts';
import { type ApprovePlanParts, refuseApproval } from './approve-plan.ts';
import type { VerbRequest } from './operations.ts';
import { type ShowRollbackParts, showRollback } from './show-rollback.ts';

export interface ApplyVerbParts extends ShowRollbackParts, FollowConfigsParts, ChangeUpgradeParts {
  readonly accounts: Accounts;
}

/** Makes the function that applies a verb: it checks the current state, saves the change, and returns once it is in force. */
export function makeApplyVerb(parts: ApplyVerbParts) {
  return async (asked: VerbRequest): Promise<AppliedVerb | undefined> => {
    const request = await redirect(parts, asked);
    const rollout = await parts.store.loadRollout(request.rolloutId);
    if (rollout === undefined) return undefined;
    const refusal =
      (await refuseForeign(parts, rollout, request)) ??
      (await refusePlan(parts, rollout, request)) ??
      (await refuseReopening(parts, rollout, request));
    if (refusal !== undefined) return { kind: 'refused', refusal };
    const retried = request.verb === 'retry' ? await retryFailed(parts, request) : undefined;
    if (retried !== undefined && retried.kind !== 'retried') return retried;
    const confirmed = await confirmRollback(parts, request);
    if (confirmed !== undefined && confirmed.kind !== 'confirmed') return confirmed;
    if (isReopening(rollout, request)) await adoptLimits(parts, rollout);
    const judgementOn = (current: RolloutView) => judgeVerb(current, request, contextOf(parts, request));
    const factOf = (current: RolloutView) => {
      const judgement = judgementOn(current);
      return judgement.kind === 'change' ? judgement.fact : undefined;
    };
    // After a verb that stops creates, no further create may be sent (P4).
    const change = verbTraits[request.verb].stopsCreates ? stopRollout : changeRollout;
    const view = await change(parts, request.rolloutId, request.by, factOf);
    if (view === undefined) return undefined;
    const judgement = judgementOn(view);
    if (judgement.kind === 'refused') return judgement;
    if (confirmed !== undefined) await noteLeftBehind(parts, request.rolloutId, confirmed.left);
    if (retried === undefined) return judgement;
    // A retry changes the records of upgrades. The rollout itself may have been open all the time.
    const reason = { kind: 'asked', by: request.by, words: request.reason } as const;
    return { kind: 'change', fact: { kind: 'reopened', at: parts.clock.now(), reason }, retried };
  };
}

/** A judgement on the current state; after a retry with what it did. */
export type AppliedVerb = VerbJudgement & { readonly retried?: RetriedFailures };

/** Of so many failures, the chosen ones are tried again. */
export interface RetriedFailures {
  readonly chosen: number;
  readonly failed: number;
}

function contextOf({ clock }: ApprovePlanParts, { by, reason }: VerbRequest) {
  return { by, reason, at: clock.now() };
}

/** A request to start a rollback outside its windows applies to the rollback, once it exists. */
async function redirect({ store }: ApplyVerbParts, request: VerbRequest): Promise<VerbRequest> {
  if (request.verb !== 'rollback' || request.now !== true) return request;
  const rollbackId = (await store.loadRollout(request.rolloutId))?.rollback.startedAs ?? null;
  if (rollbackId === null || (await store.loadRollout(rollbackId)) === undefined) return request;
  return { ...request, rolloutId: rollbackId };
}

/**
 * Compares what a rollback would do with what the operator saw (P15).
 * @returns the collectors left behind, or the refusal; undefined if the verb is no rollback, or there is no such rollout
 */
async function confirmRollback(
  parts: ApplyVerbParts,
  request: VerbRequest,
): Promise<VerbJudgement | { readonly kind: 'confirmed'; readonly left: readonly LeftBehind[] } | undefined> {
  if (request.verb !== 'rollback') return undefined;
  const view = await loadRolloutSummary(parts, request.rolloutId, parts.clock.now());
  if (view === undefined) return undefined;
  const judgement = judgeVerb(view, request, contextOf(parts, request));
  if (judgement.kind !== 'change') return judgement;
  const result = await showRollback(parts, request.rolloutId);
  switch (result.kind) {
    case 'unknownRollout':
      return undefined;
    case 'refused':
      return result;
    case 'unavailable':
      return { kind: 'refused', refusal: { kind: 'rollbackUnknown', reason: result.reason } };
    case 'shown': {
      const { preview, left } = result;
      const { shown } = request;
      if (shown !== undefined && isAsShown(shown, preview)) return { kind: 'confirmed', left };
      const now = shownOf(preview);
      return { kind: 'refused', refusal: { kind: 'rollbackUnconfirmed', shown: shown ?? null, now } };
    }
    default:
      return assertNever(result);
  }
}

/** Stores the collectors left behind until the rollback is planned. Its plan replaces the list. */
async function noteLeftBehind(
  parts: ApplyVerbParts,
  rolloutId: string,
  left: readonly LeftBehind[],
): Promise<void> {
  if (left.length === 0) return;
  await changeRollout(parts, rolloutId, 'daemon', ({ rollout: { state, rollback } }) =>
    state === 'rollingBack' && rollback.startedAs === null
      ? { kind: 'leftBehindForeseen', at: parts.clock.now(), left }
      : undefined,
  );
}

/** In a rollout of another account only stopping verbs are legal, because the others depend on this account's data (P5). */
async function refuseForeign(
  { accounts }: ApplyVerbParts,
  rollout: Rollout,
  { verb }: VerbRequest,
): Promise<Refusal | undefined> {
  if (verbTraits[verb].forForeign) return undefined;
  const account = await accounts.settle(rollout);
  return isForeign(account) ? { kind: 'foreign', account } : undefined;
}

function isReopening({ endedAt }: Rollout, { verb }: VerbRequest): boolean {
  return endedAt !== null && (verb === 'retry' || verb === 'rollback');
}

/** An ended rollout becomes the active one of its policy again, unless another rollout is active. */
async function refuseReopening(
  { store }: ApprovePlanParts,
  rollout: Rollout,
  request: VerbRequest,
): Promise<Refusal | undefined> {
  if (!isReopening(rollout, request)) return undefined;
  const [active] = await store.activeRolloutIds([rollout.policy.name]);
  return active === undefined ? undefined : { kind: 'placeTaken', active };
}

/** An ended rollout follows no config. Before it is reopened, it gets the current windows and limits (P7). */
async function adoptLimits(parts: ApplyVerbParts, { id, policy }: Rollout): Promise<void> {
  await followRollout(parts, { policy: policy.name, rolloutId: id, by: 'daemon' });
}

/** Reads the fleet again, but only for the plan that waits for approval, and may be approved as far as the store knows. */
async function refusePlan(
  parts: ApprovePlanParts,
  rollout: Rollout,
  request: VerbRequest,
): Promise<Refusal | undefined> {
  if (request.verb !== 'approve' || 'wave' in request || rollout.state !== 'awaitingApproval')
    return undefined;
  const view = await loadRolloutSummary(parts, rollout.id, parts.clock.now());
  const judgement = view && judgeVerb(view, request, contextOf(parts, request));
  return judgement?.kind === 'refused' ? judgement.refusal : refuseApproval(parts, rollout);
}

/**
 * Resets failed upgrades before the rollout is reopened. An ended rollout does not act, so it cannot end again in between.
 * After a crash half-way, the operator repeats the verb.
 * @returns the numbers, or the refusal; undefined if there is no such rollout
 */
async function retryFailed(
  parts: ApprovePlanParts & ChangeUpgradeParts,
  request: Extract<VerbRequest, { readonly verb: 'retry' }>,
): Promise<VerbJudgement | (RetriedFailures & { readonly kind: 'retried' }) | undefined> {
  const { rolloutId, cause, collectorIds, by, reason } = request;
  const view = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
  if (view === undefined) return undefined;
  const judgement = judgeVerb(view, request, contextOf(parts, request));
  if (judgement.kind === 'refused') return judgement;
  const earlier = view.rollout.endedAt === null ? 0 : countUpgradesIn(view, (state) => state === 'retrying');
  let changed = 0;
  const why = { kind: 'retryAsked', by, words: reason } as const;
  const isOfCause = cause === undefined ? () => true : makeFailureFilter(cause);
  const chosen = collectorIds && new Set(collectorIds);
  const isMeant = (upgrade: Upgrade) =>
    isOfCause(shownCauseOf(upgrade)) && chosen?.has(upgrade.identity.collectorId) !== false;
  const unmatched: Upgrade[] = [];
  for (const state of failedStates) {
    const failed = await listAllUpgrades(parts.store, rolloutId, { state });
    const at = parts.clock.now();
    const findings = failed.flatMap((upgrade) => {
      if (!('failureClass' in upgrade.progress)) return [];
      if (isMeant(upgrade)) return [{ upgrade, fact: { kind: 'retryAsked', at, reason: why } as const }];
      unmatched.push(upgrade);
      return [];
    });
    changed += (await recordFacts(parts, view.rollout, findings, {})).length;
  }
  if (earlier + changed > 0) return { kind: 'retried', chosen: changed, failed: changed + unmatched.length };
  if (chosen !== undefined) return { kind: 'refused', refusal: { kind: 'noneOfCollectors' } };
  const failed = unmatched.length === 0 ? null : summarizeFailed(unmatched);
  return { kind: 'refused', refusal: { kind: 'noneOfCause', asked: cause ?? null, failed } };
}
