import { runAtOnce } from '../../base/steps.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { ExpectedFailures, WindowStatus } from '../../contract/admin/status-parts.ts';
import { longestOpening } from '../../rollout/calendar/calendar.ts';
import { unselectedReasons } from '../../rollout/messages/exclusions.ts';
import { tabulateAttributes } from '../../rollout/model/attributes.ts';
import { failuresAllowed, formatAmount, type Policy } from '../../rollout/model/policy.ts';
import { longestChain } from '../../rollout/planning/arrange-plan.ts';
import { type Coverage, coverage } from '../../rollout/planning/coverage.ts';
import { expectFailures } from '../../rollout/planning/expected-failures.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import type { BuildTrials } from '../../rollout/planning/stratum-risk.ts';
import type { Estimate } from '../../rollout/status/estimate.ts';
import { estimatePlan } from '../../rollout/status/estimate-plan.ts';
import { windowOf } from '../../rollout/status/window.ts';

/** The figures of a plan, for its text and its JSON. */
export interface PlanFigures {
  readonly planned: number;
  /** Collectors that the policy selects, whether they need the build or not. */
  readonly selected: number;
  /** Installed collectors in the inventory. */
  readonly installed: number;
  readonly waves: readonly WaveFigures[];
  readonly strata: Pick<Coverage, 'total' | 'uncovered'>;
  /** null where upgrades may start at any time. */
  readonly window: (WindowStatus & { readonly isLongEnough: boolean }) | null;
  readonly estimate: Estimate;
  /** null where no ended rollout shows anything. */
  readonly expectedFailures: ExpectedFailures | null;
  /** Fields that the plan has no room for, so failures would not be weighed by them. */
  readonly unweighedFields: readonly string[];
}

export interface WaveFigures {
  readonly name: string;
  readonly size: number;
  /** Strata with members in it. */
  readonly strata: number;
  readonly soakMs: DurationMs;
  readonly failuresAllowed: number;
  /** As written in the policy: `1%`. */
  readonly maxFailures: string;
  readonly approval: boolean;
  readonly gates: readonly string[];
  /** The longest chain of members that wait for each other because of a cap. */
  readonly chain: number;
}

/** Computes the figures of a plan that starts now. */
export function assessPlan(
  policy: Policy,
  plan: Plan,
  {
    now,
    requestsPerSecond,
    history,
  }: {
    readonly now: EpochMs;
    readonly requestsPerSecond: number;
    /** What builds did in ended rollouts; empty where it is not known. */
    readonly history: readonly BuildTrials[];
  },
): PlanFigures {
  const { waves: covered, total, uncovered } = coverage(plan.groups);
  const waves = plan.waves.flatMap(({ name, members }, index): readonly WaveFigures[] => {
    const rule = policy.waves[index];
    if (rule === undefined) return [];
    return [
      {
        name,
        size: members.length,
        strata: covered[index] ?? 0,
        soakMs: rule.soakMs,
        failuresAllowed: failuresAllowed(rule.maxFailures, members.length),
        maxFailures: formatAmount(rule.maxFailures),
        approval: rule.approval,
        gates: rule.gates.map((gate) => (gate.dryRun ? `${gate.name} (dry run)` : gate.name)),
        chain: longestChain(members, plan.groups.domains),
      },
    ];
  });
  const planned = waves.reduce((sum, { size }) => sum + size, 0);
  const installed = planned + plan.leftOut.length;
  const collectors = plan.waves.flatMap(({ members }) => members.map(({ collector }) => collector));
  return {
    planned,
    selected: planned + plan.leftOut.filter(({ kind }) => !unselectedReasons.has(kind)).length,
    installed,
    waves,
    strata: { total, uncovered },
    window: fullWindowOf(policy, now),
    expectedFailures: expectFailures(plan.groups, policy, { history, targetBuild: plan.targetBuild }),
    estimate: estimatePlan(policy, plan, { now, requestsPerSecond }),
    unweighedFields: runAtOnce(tabulateAttributes(collectors)).leftOut,
  };
}

function fullWindowOf(policy: Policy, now: EpochMs): PlanFigures['window'] {
  const window = windowOf(policy, now);
  if (window === null) return null;
  const longestMs = longestOpening(policy, '', now);
  return { ...window, isLongEnough: longestMs === null || longestMs >= policy.upgrade.expectMs };
}
