import { sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutReasonKind } from '../../base/vocabulary.ts';
import { calendarOf } from '../calendar/calendar.ts';
import {
  type AssessedView,
  type AssessedWave,
  assess,
  emptyCounts,
  type WaveAssessment,
} from '../decision/assess.ts';
import { assessGate, type GateAssessment } from '../decision/assess-gate.ts';
import { decideAssessed } from '../decision/decide.ts';
import { soakEndsAtOf } from '../decision/soak.ts';
import { waveWaits } from '../decision/wave-blockers.ts';
import { type ShownBlocker, showBlocker, waveWaitsWords } from '../messages/blockers.ts';
import {
  type ShownLeftBehind,
  type ShownLeftOut,
  showLeftBehind,
  showLeftOut,
} from '../messages/exclusions.ts';
import { gateWords } from '../messages/gates.ts';
import { driftWords } from '../messages/plans.ts';
import { rolloutReasonWords } from '../messages/rollout-reasons.ts';
import { stratumWhyWords } from '../messages/stratum-reasons.ts';
import type { SharedAttribute } from '../model/attributes.ts';
import type { GateAnswers } from '../model/gate-answers.ts';
import type { GateRule } from '../model/policy.ts';
import type {
  BuildHold,
  HeldFor,
  HeldStratum,
  PlanDrift,
  Rollout,
  RolloutView,
  Wave,
  WaveSummary,
} from '../model/rollout.ts';
import { type UpgradeState, upgradeStates } from '../model/upgrade.ts';
import type { StratumReason } from '../model/upgrade-reason.ts';
import { type Coverage, coverage } from '../planning/coverage.ts';
import type { RolloutVerb } from '../verbs/verbs.ts';
import type { ApiBudgetStatus } from './api-budget-status.ts';
import { type CauseGroup, type CauseUpgrades, groupCauses } from './causes.ts';
import { type Eta, etaOf, waitsForOf } from './eta.ts';
import { type Headline, type HeadlineFacts, headlineOf } from './headline.ts';
import { legalVerbs } from './legal-verbs.ts';
import { type WindowStatus, windowOf } from './window.ts';

/** The status of a rollout (DESIGN §5), made from the result of `decide`. */
export interface RolloutStatus
  extends Pick<
      Rollout,
      | 'id'
      | 'kind'
      | 'rollbackOf'
      | 'rollbackId'
      | 'state'
      | 'targetBuild'
      | 'backTo'
      | 'fromBuilds'
      | 'planHash'
      | 'startedBy'
      | 'createdAt'
      | 'endedAt'
    >,
    Pick<HeadlineFacts, 'account' | 'recordUnreadable' | 'api' | 'waitsFor'> {
  readonly policy: string;
  /** What has to be done. Badge, title, exit code and metric are derived from it. */
  readonly headline: Headline;
  readonly reason: string;
  readonly reasonKind: RolloutReasonKind;
  /** Number of the current hold or pause, which `resume` names; null without one. */
  readonly hold: number | null;
  /** A condition that ends the hold without an operator; null without one. */
  readonly heldFor: HeldFor | null;
  /** Collectors that the rollback leaves on the new build, with the reason; shown for the original rollout too. */
  readonly leftBehind: readonly ShownLeftBehind[];
  /** While the plan waits for approval: how it differs from the plan shown before. */
  readonly drift: DriftStatus | null;
  readonly planned: number;
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Why upgrades failed, are retried, are deferred, or were withdrawn; without empty groups. */
  readonly causes: readonly CauseGroup[];
  /** What the failures have in common; null if nothing significant. */
  readonly sharedAttribute: SharedAttribute | null;
  /** Fields by which failures are not weighed, because the plan has no room for them; the most telling first. */
  readonly unweighedFields: readonly string[];
  readonly leftOut: readonly ShownLeftOut[];
  /** Number of slots taken, out of `concurrency`. */
  readonly inFlight: number;
  readonly concurrency: number;
  /** As how many failures a lost collector counts. */
  readonly lostWeight: number;
  /** null once it has ended. */
  readonly eta: Eta | null;
  /** In the policy's time zone; null if upgrades may start at any time. */
  readonly window: WindowStatus | null;
  /** The hold of the target build, which applies to all policies; null without one. */
  readonly buildHold: BuildHold | null;
  readonly strata: StrataStatus;
  readonly waves: readonly WaveStatus[];
  /** Why nothing more can start now; empty if something can. */
  readonly blockers: readonly ShownBlocker[];
  /** The verbs that would change something now. */
  readonly verbs: readonly RolloutVerb[];
}

/** How the plan that waits for approval differs from the previous one. */
export interface DriftStatus extends Omit<PlanDrift, 'change'> {
  readonly words: string;
}

export interface StrataStatus {
  readonly total: number;
  readonly held: ReadonlyArray<
    Pick<HeldStratum, 'label' | 'by' | 'at'> & {
      readonly kind: StratumReason['kind'];
      readonly reason: string;
      /** Its collectors that wait until it is released. */
      readonly waiting: number;
    }
  >;
  readonly uncovered: Coverage['uncovered'];
}

export interface GateStatus extends Pick<GateAssessment, 'name' | 'verdict' | 'dryRun'> {
  readonly words: string;
  readonly value: number | null;
  /** Number of consecutive requests without an answer. */
  readonly unanswered: number;
}

export interface WaveStatus
  extends Pick<Wave, 'name' | 'joined' | 'state' | 'openedAt' | 'soakEndsAt' | 'passedAt'>,
    Pick<WaveAssessment, 'failures' | 'failuresAllowed' | 'lost' | 'acknowledged' | 'setAside'> {
  /** Planned members and late joiners. */
  readonly size: number;
  /** Number of strata with members in the wave. */
  readonly strata: number;
  readonly counts: WaveSummary['counts'];
  readonly gates: readonly GateStatus[];
  /** What the wave waits for; null if it does not wait. */
  readonly waits: string | null;
}

/**
 * Makes the status of a rollout from its view and from the same decision that the daemon acts on (DESIGN §3).
 * @param upgrades the failed, retrying, deferred and withdrawn upgrades that were read
 */
export function describeRollout(
  given: RolloutView,
  now: EpochMs,
  api: ApiBudgetStatus,
  upgrades: CauseUpgrades = {},
): RolloutStatus {
  const view = assess(given);
  const { rollout } = view;
  const { id, kind, state, rollbackOf, rollbackId, startedBy, createdAt, endedAt } = rollout;
  const { targetBuild, backTo, fromBuilds, planHash } = rollout;
  const { waves: covered, total, uncovered } = coverage(view.groups);
  const waves = view.assessed.map((each) => describeWave(view, each, covered[each.index] ?? 0, now));
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
    ...{ id, rollbackOf, rollbackId, targetBuild, backTo, fromBuilds, planHash, startedBy, createdAt },
    policy: rollout.policy.name,
    reason: rolloutReasonWords(rollout.reason),
    reasonKind: rollout.reason.kind,
    hold: rollout.hold,
    heldFor: rollout.heldFor ?? null,
    leftBehind: rollout.leftBehind.map(showLeftBehind),
    drift: driftOf(rollout),
    planned: sumOf(waves, ({ size }) => size),
    counts: sumCounts(waves),
    causes: groupCauses(view, upgrades),
    sharedAttribute: view.sharedAttribute ?? null,
    unweighedFields: rollout.unweighedFields ?? [],
    leftOut: showLeftOut(rollout.leftOut),
    inFlight: view.slotsTaken,
    concurrency: rollout.policy.concurrency,
    lostWeight: rollout.policy.lostWeight,
    eta: etaOf(view, now, api),
    window: windowOf(calendarOf(rollout), now),
    buildHold: view.buildHold,
    strata: { total, held: heldOf(view), uncovered },
    blockers: decideAssessed(view, now).blockers.map(showBlocker),
  };
  return { ...status, verbs: legalVerbs(view, status) };
}

/** @param strata number of strata with members in the wave */
function describeWave(view: AssessedView, each: AssessedWave, strata: number, now: EpochMs): WaveStatus {
  const { wave, rule, summary, assessment } = each;
  const waits = waveWaits(view, each);
  const { name, joined, state, openedAt, passedAt } = wave;
  const { failures, failuresAllowed, acknowledged, lost, setAside } = assessment;
  return {
    ...{ name, size: wave.size + joined, joined, strata, state, counts: summary.counts },
    ...{ failures, failuresAllowed, lost, acknowledged, setAside },
    gates: rule.gates.flatMap((gate, index) => {
      const answers = wave.gates[index];
      return answers === undefined ? [] : [describeGate(gate, answers, now)];
    }),
    openedAt,
    soakEndsAt: soakEndsAtOf(each),
    passedAt,
    waits: waits === null ? null : waveWaitsWords(waits),
  };
}

function describeGate(gate: GateRule, answers: GateAnswers, now: EpochMs): GateStatus {
  const assessment = assessGate(gate, answers, now);
  const { name, verdict, dryRun } = assessment;
  const { value, errorsInRow: unanswered } = answers;
  return { name, verdict, words: gateWords(assessment), value, unanswered, dryRun };
}

function driftOf({ drift }: Rollout): DriftStatus | null {
  if (drift === null) return null;
  const { from, joined, left } = drift;
  return { from, joined, left, words: driftWords(drift) };
}

function heldOf(view: RolloutView): StrataStatus['held'] {
  return view.rollout.heldStrata.map(({ stratum, label, reason, by, at }) => {
    const waiting = sumOf(view.strata, (each) => (each.stratum === stratum ? each.waiting : 0));
    return { label, kind: reason.kind, reason: stratumWhyWords(reason), by, at, waiting };
  });
}

function sumCounts(waves: readonly WaveStatus[]): Record<UpgradeState, number> {
  const sums = emptyCounts();
  for (const { counts } of waves) for (const state of upgradeStates) sums[state] += counts[state];
  return sums;
}
