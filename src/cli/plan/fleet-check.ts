import { toPrintable } from '../../base/safe-text.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import {
  emptyInventoryText,
  emptyMatchText,
  noTargetText,
  unselectedReasons,
} from '../../rollout/messages/exclusions.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { findOverlaps, type Overlap, type PolicyClaim } from '../../rollout/planning/overlap.ts';
import { compileMatch, findEmptyMatch } from '../../rollout/planning/selector.ts';
import type { PolicyPlan } from './read-plans.ts';
import { overlapText } from './render-plan.ts';

/** How a config fits an inventory. */
export interface FleetCheck {
  readonly policies: ReadonlyArray<{
    readonly policy: string;
    /** How many collectors it selects, whatever build they run; null where the policy has no target, and was not checked. */
    readonly selected: number | null;
    readonly words: string;
  }>;
  readonly overlaps: readonly Overlap[];
  /** Likely mistakes, in words. */
  readonly warnings: readonly string[];
}

/** Compares the selections of policies with the inventory: finds those that match nothing, and pairs that overlap. */
export function checkFleet(plans: readonly PolicyPlan[]): FleetCheck {
  const claims = plans.map(claimOf);
  const overlaps = findOverlaps(claims.flatMap((claim) => (claim === undefined ? [] : [claim])));
  const policies = plans.map(({ policy: { name }, reading }, index) => {
    const selected = claims[index]?.members.length ?? null;
    const words =
      reading.kind === 'noTarget'
        ? `${name}: ${toPrintable(noTargetText(reading.why))}`
        : `${name}: selects ${showCount(selected ?? 0)} of ${showCount(reading.fleet.collectors.length)} installed collectors`;
    return { policy: name, selected, words };
  });
  const selectingNone = plans.flatMap(({ policy: { name, select }, reading }, index) => {
    if (reading.kind === 'noTarget' || policies[index]?.selected !== 0) return [];
    const { collectors } = reading.fleet;
    return [
      collectors.length === 0
        ? `${name}: ${emptyInventoryText}`
        : `${name} matches nothing: ${emptyMatchText(findEmptyMatch(select, collectors))}`,
    ];
  });
  const missing = plans.filter(
    ({ reading }) => reading.kind === 'noTarget' && reading.why.kind === 'notOffered',
  );
  return {
    policies,
    overlaps,
    warnings: [
      ...selectingNone,
      ...missing.map(({ policy }) => `${policy.name} starts nothing until its build is available`),
      ...plans.flatMap(({ policy }, index) => unmatchedWaves(policy, claims[index]?.members ?? [])),
      ...overlaps.map(overlapText),
    ],
  };
}

/** Waves whose `match` matches nobody whom the policy selects: a name that is misspelled. */
function unmatchedWaves(policy: Policy, selected: readonly FleetCollector[]): readonly string[] {
  if (selected.length === 0) return [];
  return policy.waves.flatMap(({ name, match }) => {
    const matches = compileMatch(match);
    if (match === undefined || selected.some((collector) => matches(collector))) return [];
    return [`${policy.name}: the match of wave ${toPrintable(name)} matches nothing`];
  });
}

interface FleetClaim extends PolicyClaim {
  readonly members: readonly FleetCollector[];
}

function claimOf({ policy, reading }: PolicyPlan): FleetClaim | undefined {
  if (reading.kind === 'noTarget') return undefined;
  const { waves, leftOut } = reading.plan;
  const planned = waves.flatMap(({ members }) => members.map(({ collector }) => collector));
  const others = leftOut.filter(({ kind }) => !unselectedReasons.has(kind)).map(({ collector }) => collector);
  return { policy: policy.name, members: [...planned, ...others] };
}
