import { sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { ApiBudgetStatus, RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { DriftStatus, GateStatus, StrataStatus, WaveStatus } from '../../contract/admin/status-parts.ts';
import { calendarOf } from '../calendar/calendar.ts';
import {
  type AssessedView,
  type AssessedWave,
  assess,
  countUpgradesIn,
  emptyCounts,
} from '../decision/assess.ts';
import { assessGate } from '../decision/assess-gate.ts';
import { decideAssessed } from '../decision/decide.ts';
import { reasonNow } from '../decision/reason-now.ts';
import { soakEndsAtOf } from '../decision/soak.ts';
import { waveWaits } from '../decision/wave-blockers.ts';
import { showBlocker, waveWaitsText } from '../messages/blockers.ts';
import { showLeftBehind, showLeftOut } from '../messages/exclusions.ts';
import { gateText } from '../messages/gates.ts';
import { driftText } from '../messages/plans.ts';
import { rolloutReasonText } from '../messages/rollout-reasons.ts';
import { stratumWhyNowText } from '../messages/stratum-reasons.ts';
import type { GateAnswers } from '../model/gate-answers.ts';
import type { GateRule } from '../model/policy.ts';
import type { RolloutPlan, RolloutView } from '../model/rollout.ts';
import { isRunning, type UpgradeState, upgradeStates } from '../model/upgrade.ts';
import { coverage } from '../planning/coverage.ts';
import { expectFailures } from '../planning/expected-failures.ts';
import type { BuildTrials } from '../planning/stratum-risk.ts';
import { type CauseUpgrades, causesReadMax, groupCauses } from './causes.ts';
import { type Forecast, forecast, waitsForOf } from './eta.ts';
import { headlineOf } from './headline.ts';
import { legalVerbs } from './legal-verbs.ts';
import { windowOf } from './window.ts';

/**
 * Makes the status of a rollout from its view and from the same decision that the daemon acts on (DESIGN §3).
 * @param upgrades the failed, retrying, deferred and withdrawn upgrades that were read
 * @param history what builds did in ended rollouts; read for a plan that waits for approval
 */
export function describeRollout(
  rolloutView: RolloutView,
  now: EpochMs,
  api: ApiBudgetStatus,
  upgrades: CauseUpgrades = {},
  history: readonly BuildTrials[] = [],
): RolloutStatus {
  const view = assess(withInFlight(rolloutView, upgrades));
  const { rollout } = view;
  const { id, kind, state, startedBy, createdAt, endedAt, plan, hold, rollback } = rollout;
  const { waves: covered, total, uncovered } = coverage(view.groups);
  const { eta, waves: expected } = forecast(view, now, api);
  const waves = view.assessed.map((each) => describeWave(view, each, { covered, expected, now }));
  const facts = {
    ...{ kind, state, endedAt },
    account: view.account?.kind ?? 'own',
    recordUnreadable: rollout.unreadable?.kind ?? null,
    waves,
    api: endedAt === null ? api : null,
    waitsFor: waitsForOf(view, now),
  } as const;
  const status = {
    ...facts,
    headline: headlineOf({
      ...facts,
      isPolicyMissing: view.isPolicyMissing ?? false,
      rollbackState: view.rollback?.state ?? null,
    }),
    ...{ id, startedBy, createdAt },
    rollbackOf: rollback.original,
    rollbackId: rollback.startedAs,
    targetBuild: plan.targetBuild,
    backTo: rollback.backTo,
    ...{ fromBuilds: plan.fromBuilds, fromOthers: othersOf(rollout) },
    planHash: plan.hash,
    policy: rollout.policy.name,
    reason: rolloutReasonText(reasonNow(view)),
    reasonKind: rollout.reason.kind,
    hold: hold?.number ?? null,
    heldFor: hold?.heldFor ?? null,
    leftBehind: rollback.leftBehind.map(showLeftBehind),
    drift: driftOf(plan),
    planned: sumOf(waves, ({ size }) => size),
    counts: sumCounts(waves),
    causes: groupCauses(view, upgrades),
    sharedAttribute: view.sharedAttribute ?? null,
    unweighedFields: plan.unweighedFields,
    leftOut: showLeftOut(plan.leftOut),
    inFlight: view.slotsTaken,
    concurrency: rollout.policy.concurrency,
    lostWeight: rollout.policy.lostWeight,
    eta,
    window: windowOf(calendarOf(rollout), now),
    buildHold: view.buildHold,
    strata: { total, held: heldOf(view), uncovered },
    expectedFailures: expectedOf(view, history),
    blockers: decideAssessed(view, now).blockers.map(showBlocker),
  };
  return { ...status, verbs: legalVerbs(view, status, now) };
}

/** Adds the running upgrades where all were read. Of many, only those that are due first are read. */
function withInFlight(view: RolloutView, { inFlight }: CauseUpgrades): RolloutView {
  const areAllRead = countUpgradesIn(view, isRunning) <= causesReadMax;
  return inFlight === undefined || !areAllRead ? view : { ...view, inFlight };
}

/** @param of by wave: the number of strata with members, and when it is expected */
function describeWave(
  view: AssessedView,
  each: AssessedWave,
  of: {
    readonly covered: readonly number[];
    readonly expected: Forecast['waves'];
    readonly now: EpochMs;
  },
): WaveStatus {
  const { wave, rule, summary, assessment } = each;
  const waits = waveWaits(view, each);
  const { name, joined, state, openedAt, passedAt } = wave;
  const { failures, failuresAllowed, acknowledged, lost, setAside } = assessment;
  return {
    ...{
      name,
      size: wave.size + joined,
      joined,
      strata: of.covered[each.index] ?? 0,
      state,
      counts: summary.counts,
    },
    ...{ failures, failuresAllowed, lost, acknowledged, setAside },
    gates: rule.gates.flatMap((gate, index) => {
      const answers = wave.gates[index];
      return answers === undefined ? [] : [describeGate(gate, answers, of.now)];
    }),
    openedAt,
    soakEndsAt: soakEndsAtOf(each),
    ...{ passedAt, expected: of.expected[each.index] ?? null },
    waits: waits === null ? null : waveWaitsText(waits),
  };
}

function describeGate(gate: GateRule, answers: GateAnswers, now: EpochMs): GateStatus {
  const assessment = assessGate(gate, answers, now);
  const { name, verdict, dryRun } = assessment;
  const { value, errorsInRow: unanswered } = answers;
  return { name, verdict, words: gateText(assessment), value, unanswered, dryRun };
}

function expectedOf(
  { rollout, groups }: AssessedView,
  history: readonly BuildTrials[],
): RolloutStatus['expectedFailures'] {
  const { state, policy, plan } = rollout;
  if (state !== 'awaitingApproval') return null;
  return expectFailures(groups, policy, { history, targetBuild: plan.targetBuild });
}

/** A rollback counts no builds. */
function othersOf({ plan, waves }: AssessedView['rollout']): number {
  if (plan.fromCounts.length === 0) return 0;
  const planned = sumOf(waves, ({ size }) => size);
  return Math.max(0, planned - sumOf(plan.fromCounts, (count) => count));
}

function driftOf({ drift }: RolloutPlan): DriftStatus | null {
  if (drift === null) return null;
  const { from, joined, left } = drift;
  return { from, joined, left, words: driftText(drift) };
}

function heldOf(view: RolloutView): StrataStatus['held'] {
  return view.rollout.strata.held.map(({ stratum, label, reason, by, at, tookOver }) => {
    const own = view.strata.filter((each) => each.stratum === stratum);
    const waiting = sumOf(own, (each) => each.waiting);
    const failed = sumOf(own, (each) => each.failed);
    const tried = failed + sumOf(own, (each) => each.succeeded);
    const why = stratumWhyNowText(reason, { failed, tried });
    return {
      ...{ label, kind: reason.kind, reason: why, by, at, waiting },
      ...(failed > 0 && { failed }),
      ...(tookOver !== undefined && { tookOver }),
    };
  });
}

function sumCounts(waves: readonly WaveStatus[]): Record<UpgradeState, number> {
  const sums = emptyCounts();
  for (const { counts } of waves) for (const state of upgradeStates) sums[state] += counts[state];
  return sums;
}
