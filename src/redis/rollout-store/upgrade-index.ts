import { invariant } from '../../base/assert.ts';
import type { UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { CapDomain } from '../../rollout/model/plan-groups.ts';
import { dueAtOf, holdsSlot, isFailed, type Upgrade } from '../../rollout/model/upgrade.ts';
import { changedAtOf } from '../../rollout/model/upgrade-figures.ts';
import { counterField } from '../schema/counter-fields.ts';
import { pendingScoreOf } from '../schema/plan-place.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { type CounterChanges, countChange } from './upgrade-counters.ts';

/** The scores of a record in the sorted sets. Without a score it is not in that set. */
export interface UpgradeIndex {
  /** Part of its member name among the retries, so that lanes are known without reading records. */
  readonly lane: string;
  readonly pending?: string;
  readonly due?: string;
  readonly retry?: string;
  /** The score is the instant of the write, by Redis's clock. */
  readonly intent?: true;
  readonly missed?: string;
}

/** The scores of a record, computed by functions of the core, so that the scripts contain no rules. */
export function indexOf(upgrade: Upgrade): UpgradeIndex {
  const dueAt = dueAtOf(upgrade);
  return {
    lane: String(upgrade.identity.lane),
    ...(upgrade.progress.state === 'pending' ? { pending: String(pendingScoreOf(upgrade)) } : {}),
    ...(dueAt === undefined
      ? {}
      : { [upgrade.progress.state === 'retrying' ? 'retry' : 'due']: String(dueAt) }),
    ...(upgrade.progress.state === 'starting' ? { intent: true } : {}),
    ...missedOf(upgrade),
  };
}

/** Failed upgrades by their end, withdrawn ones by its negative, so that neither kind hides the other. */
function missedOf(upgrade: Upgrade): { readonly missed?: string } {
  if (isFailed(upgrade.progress.state) && 'endedAt' in upgrade.progress)
    return { missed: String(upgrade.progress.endedAt) };
  return upgrade.progress.state === 'withdrawn' ? { missed: String(-upgrade.progress.endedAt) } : {};
}

/**
 * Encodes a change for `write-upgrades.lua`: what to check, what to count, the record and its events.
 * @param only the domains with their caps, for an admission only; and the weight of its wave above which the brake is set
 */
export function encodeChange(
  change: UpgradeChange,
  version: number,
  only: { readonly domains?: readonly CapDomain[]; readonly brakeAbove?: number | null } = {},
) {
  const { before, after, events } = change;
  const changedAt = changedAtOf(change);
  const { domains, brakeAbove = null } = only;
  const { turnPaceMs } = after.tally;
  return {
    id: String(after.identity.collectorId),
    rev: before.rev,
    state: before.progress.state,
    slots: Number(holdsSlot(after.progress.state)) - Number(holdsSlot(before.progress.state)),
    weightCounter: counterField.weight(after.identity.wave),
    counts: encodeCounts(countChange(before, after)),
    caps: domains === undefined ? {} : encodeCaps(after, domains),
    ...(brakeAbove === null || !Number.isFinite(brakeAbove) ? {} : { brakeAbove }),
    ...(turnPaceMs === undefined ? {} : { paceMs: turnPaceMs }),
    ...(changedAt === undefined
      ? {}
      : { changedCounter: counterField.changedAt(after.identity.wave), changedAt: String(changedAt) }),
    index: indexOf(after),
    record: encodeUpgrade(after, version),
    events: encodeEvents(events),
  };
}

/** Amounts by their counters, as texts, so that Lua rounds none of them. */
export function encodeCounts(changes: CounterChanges): Readonly<Record<string, string>> {
  return Object.fromEntries([...changes].map(([counter, amount]) => [counter, String(amount)]));
}

export function encodeEvents(events: readonly RolloutEvent[]): readonly string[] {
  return events.map((event) => JSON.stringify(event));
}

/** The caps of its domains by their counters. */
function encodeCaps(upgrade: Upgrade, domains: readonly CapDomain[]): Readonly<Record<string, string>> {
  const caps = upgrade.identity.domains.map((index) => {
    const domain = domains[index];
    // Without the cap the upgrade would be admitted unchecked (P2).
    invariant(
      domain !== undefined,
      `collector ${upgrade.identity.collectorId} is in domain ${index}, which the plan lacks`,
    );
    return [counterField.domain(index), String(domain.cap)] as const;
  });
  return Object.fromEntries(caps);
}
