import { isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import type { ExplanationKind } from '../../base/vocabulary.ts';
import { type UnplannedReason, unplannedText } from '../messages/explanations.ts';
import type { StoppedRollout } from '../messages/scans.ts';
import type { FleetCollector } from '../model/collector.ts';
import { whyLeftBehind } from '../model/left-behind.ts';
import type { Policy } from '../model/policy.ts';
import type { Rollout } from '../model/rollout.ts';
import { isEnd, isFailed, mayHaveBuild, type Upgrade } from '../model/upgrade.ts';
import { makeExclusionRule } from '../planning/plan.ts';
import { compileSelection, findSelectionRule, type SelectionRule } from '../planning/selector.ts';
import type { TargetChoice } from '../planning/target.ts';
import { quoteArgument } from './command-for.ts';
import type { UpgradeExplanation } from './explain.ts';

export interface Unplanned extends UpgradeExplanation {
  readonly kind: ExplanationKind;
  readonly rule: SelectionRule | null;
}

/** What is known about a policy and a collector that is not in its rollout. */
export interface UnplannedContext {
  /** The target that the policy would choose now; null if the service cannot be asked. */
  readonly target: TargetChoice | null;
  /** The policy's rollouts that are still stored, newest first, with the collector's record in each. */
  readonly past: readonly PastRecord[];
  /** The operator's hold on the collector, or on the group with this label that it belongs to, if any. */
  readonly held:
    | { readonly by: string; readonly reason: string; readonly label?: string | undefined }
    | undefined;
  readonly nextScanAt: EpochMs | null;
  /** The running rollout whose end it waits for, because the plan lacks its stratum; null: none. */
  readonly untriedIn: string | null;
}

export interface PastRecord {
  readonly rollout: StoppedRollout & Pick<Rollout, 'kind' | 'rollback'>;
  readonly upgrade: Upgrade | undefined;
}

/**
 * Explains why a collector is in no rollout of a policy, by the rules of the next plan. Evaluated in order: what the
 * policy or an operator excludes, then what stops the whole policy, then temporary reasons.
 */
export function explainUnplanned(
  policy: Policy,
  collector: FleetCollector,
  { target, past, held, nextScanAt, untriedIn }: UnplannedContext,
): Unplanned {
  const rule = findSelectionRule(policy.select, collector) ?? null;
  const unselected = compileSelection(policy.select)(collector);
  if (unselected !== undefined) return { ...unplanned({ kind: unselected, rule }), rule };
  if (target === null) return unplanned({ kind: 'unknown' });
  const upgrades = past.filter(({ rollout }) => rollout.kind === 'upgrade');
  const { name } = policy;
  if (target.kind === 'none') {
    const { why } = target;
    // What holds the build does not matter to a collector that runs it.
    const [latest] = upgrades;
    const runsIt = latest !== undefined && isSameBuild(collector.build, latest.rollout.plan.targetBuild);
    const stays = runsIt ? stayedOf(latest) : undefined;
    if (stays !== undefined) return unplanned(stays);
    const stopped = stoppedOf(latest);
    const until = why.kind === 'tooNew' ? why.notBefore : null;
    return { ...unplanned({ kind: 'noTarget', why, stopped, policy: name }), until };
  }
  const toTarget = upgrades.filter(({ rollout }) => rollout.plan.targetBuild === target.build);
  const failed = toTarget.find(
    ({ rollout, upgrade }) =>
      upgrade !== undefined && isFailed(upgrade.progress.state) && rollout.state !== 'succeeded',
  );
  // Only the next scan shows whether the service offers this upgrade. Assume that it does.
  const offered = { collectors: [], upgradableIds: new Set([collector.id]) };
  const exclusionOf = makeExclusionRule(policy, target.build, offered, {
    heldCollectors: new Set(held === undefined ? [] : [collector.id]),
    failedBefore: new Set(failed === undefined ? [] : [collector.id]),
  });
  const reason = exclusionOf(collector);
  if (reason === 'held')
    return unplanned({
      kind: 'held',
      by: held?.by ?? '',
      words: held?.reason ?? '',
      group: held?.label,
      subject: quoteArgument(held?.label ?? String(collector.id)),
    });
  const [last] = toTarget;
  const stayed = reason === 'atTarget' ? stayedOf(last) : undefined;
  if (stayed !== undefined) return unplanned(stayed);
  if (reason !== undefined && reason !== 'failedBefore' && reason !== 'notAlive')
    return unplanned({ kind: reason });
  const stopped = stoppedOf(toTarget[0]);
  if (stopped !== undefined)
    return unplanned({ kind: stopped.state === 'aborted' ? 'aborted' : 'rolledBack', stopped, policy: name });
  if (reason === 'failedBefore')
    return unplanned({ kind: reason, rollout: failed?.rollout.id ?? '', upgrade: failed?.upgrade });
  if (reason !== undefined) return unplanned({ kind: reason });
  const until = untriedIn === null ? nextScanAt : null;
  return { ...unplanned({ kind: 'eligible', untriedIn }), until };
}

/** True if an operator or a breach ended the rollout. Only an operator starts another one to the same build then. */
export function isStopped({ state }: Pick<Rollout, 'state'>): boolean {
  return state === 'rollingBack' || state === 'aborted' || state === 'rolledBack';
}

/** Of a collector that a rollback has left on the build. */
function stayedOf(last: PastRecord | undefined): Extract<UnplannedReason, { kind: 'stays' }> | undefined {
  if (last?.upgrade === undefined || last.rollout.state !== 'rolledBack') return undefined;
  const { rollout, upgrade } = last;
  const { state } = upgrade.progress;
  if (!isEnd(state) || !mayHaveBuild(state)) return undefined;
  const why = whyLeftBehind(rollout.rollback.leftBehind, upgrade);
  return { kind: 'stays', rollout: rollout.id, upgrade, why };
}

function stoppedOf(last: PastRecord | undefined): PastRecord['rollout'] | undefined {
  return last !== undefined && isStopped(last.rollout) ? last.rollout : undefined;
}

/** An explanation without the selection's rule. */
export function unplanned(reason: UnplannedReason): Unplanned {
  return { kind: reason.kind, reason: unplannedText(reason), until: null, rule: null };
}
