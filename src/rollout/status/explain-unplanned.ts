import { leftOutWords, noTargetWords } from '../messages/exclusions.ts';
import { upgradeWords } from '../messages/upgrade-reasons.ts';
import type { FleetCollector } from '../model/collector.ts';
import type { PlanExclusion } from '../model/left-out.ts';
import type { Policy } from '../model/policy.ts';
import type { Rollout, RolloutState } from '../model/rollout.ts';
import { isFailed, stateWords, type Upgrade } from '../model/upgrade.ts';
import { makeJudge } from '../planning/plan.ts';
import { compileSelection, findSelectionRule, ruleWords, type SelectionRule } from '../planning/selector.ts';
import type { TargetChoice } from '../planning/target.ts';
import type { UpgradeExplanation } from './explain.ts';

/** Why a collector is where it is, for programs. */
export type ExplanationKind =
  /** It has its place in the rollout that is on its way: its state says more. */
  | 'planned'
  /** Its record can't be read. */
  | 'unreadable'
  | PlanExclusion
  /** The policy has no build to go to. */
  | 'noTarget'
  /** The rollout to this build was rolled back or aborted: a person starts the next one. */
  | 'rolledBack'
  | 'aborted'
  /** Nothing speaks against it. */
  | 'eligible'
  /** The service has it no more. */
  | 'gone'
  /** The service can't be asked now. */
  | 'unknown';

export interface Unplanned extends UpgradeExplanation {
  readonly kind: ExplanationKind;
  readonly rule: SelectionRule | null;
}

/** What is known of a policy for a collector that has no place in its rollout. */
export interface UnplannedContext {
  /** What the policy would go to now; null: the service can't be asked. */
  readonly target: TargetChoice | null;
  /** Its upgrade rollouts that are kept, newest first, with the collector's record in each. */
  readonly past: readonly PastRecord[];
  /** An operator's word about the collector. */
  readonly held: { readonly by: string; readonly reason: string } | undefined;
}

export interface PastRecord {
  readonly rollout: Pick<Rollout, 'id' | 'kind' | 'state' | 'targetBuild'>;
  readonly upgrade: Upgrade | undefined;
}

/**
 * Why a collector is in no rollout of a policy, by the rules of the next plan: what the policy and people say of the
 * collector first, then what stops the whole policy, then what may pass by itself.
 */
export function explainUnplanned(
  policy: Policy,
  collector: FleetCollector,
  { target, past, held }: UnplannedContext,
): Unplanned {
  const rule = findSelectionRule(policy.select, collector) ?? null;
  const unselected = compileSelection(policy.select)(collector);
  if (unselected !== undefined) return { ...because(unselected, selectionWords(unselected, rule)), rule };
  if (target === null) return because('unknown', 'not planned; the builds on offer are not known now');
  const upgrades = past.filter(({ rollout }) => rollout.kind === 'upgrade');
  if (target.kind === 'none') {
    const stopped = stoppedWords(policy, upgrades[0]?.rollout);
    const words = noTargetWords(target.why);
    const reason = stopped === undefined ? words : `${words}; ${stopped}`;
    return {
      ...because('noTarget', reason),
      until: target.why.kind === 'tooNew' ? target.why.notBefore : null,
    };
  }
  const toTarget = upgrades.filter(({ rollout }) => rollout.targetBuild === target.build);
  const failed = toTarget.find(({ rollout, upgrade }) => hasFailed(upgrade) && rollout.state !== 'succeeded');
  // Whether the service offers it the upgrade is seen at the next scan; here it is taken to.
  const offered = { collectors: [], upgradableIds: new Set([collector.id]) };
  const judge = makeJudge(policy, target.build, offered, {
    heldCollectors: new Set(held === undefined ? [] : [collector.id]),
    failedBefore: new Set(failed === undefined ? [] : [collector.id]),
  });
  const reason = judge(collector);
  if (reason === 'held') return because('held', `held by ${held?.by ?? ''}: ${held?.reason ?? ''}`);
  if (reason !== undefined && reason !== 'failedBefore' && reason !== 'notAlive')
    return because(reason, leftOutWords[reason]);
  const last = toTarget[0]?.rollout;
  const stopped = stoppedWords(policy, last);
  if (stopped !== undefined) return because(last?.state === 'aborted' ? 'aborted' : 'rolledBack', stopped);
  if (reason === 'failedBefore') return because(reason, failedWords(failed));
  if (reason !== undefined) return because(reason, leftOutWords[reason]);
  return because('eligible', 'eligible: the next scan plans it, if the service offers it the upgrade');
}

// What an operator, or the breaker, ended on purpose is not begun again by a schedule.
const stoppedStates: ReadonlySet<RolloutState> = new Set(['aborted', 'rollingBack', 'rolledBack']);

/** True for a rollout after which only an operator starts another one to the same build. */
export function isStopped({ state }: Pick<Rollout, 'state'>): boolean {
  return stoppedStates.has(state);
}

function stoppedWords(policy: Policy, last: PastRecord['rollout'] | undefined): string | undefined {
  if (last === undefined || !isStopped(last)) return undefined;
  const was = last.state === 'aborted' ? 'aborted' : 'rolled back';
  return `${last.id} to ${last.targetBuild} was ${was}; start it with \`upwave start ${policy.name}\``;
}

function selectionWords(reason: 'notSelected' | 'excluded', rule: SelectionRule | null): string {
  if (rule === null) return leftOutWords[reason];
  return reason === 'excluded' ? `excluded by ${ruleWords(rule)}` : `not selected by ${ruleWords(rule)}`;
}

function hasFailed(upgrade: Upgrade | undefined): boolean {
  return upgrade !== undefined && isFailed(upgrade.progress.state);
}

function failedWords(failed: PastRecord | undefined): string {
  const { rollout, upgrade } = failed ?? {};
  const why = upgrade === undefined ? '' : `: ${upgradeWords(upgrade)}`;
  return `${stateWords(upgrade?.progress.state ?? 'failed')} in ${rollout?.id ?? ''}${why}; \`upwave retry ${rollout?.id ?? ''}\` tries it again`;
}

function because(kind: ExplanationKind, reason: string): Unplanned {
  return { kind, reason, until: null, rule: null };
}
