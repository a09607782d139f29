import { sumOf } from '../../base/grouping.ts';
import { type DurationMs, type EpochMs, earliest } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { ticksIn } from '../../queue/schedule-ticks.ts';
import type { OtherPolicy } from '../../rehearsal/play/agenda.ts';
import type { ShownOther } from '../../rehearsal/result/rehearsal-text.ts';
import type { WhatIf } from '../../rehearsal/world/what-if.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { makePlan } from '../../rollout/planning/plan.ts';

/** A policy that starts later hardly meets the rollout. */
const startsWithinMs: DurationMs = dayMs;

/** The other policies that would start a rollout with the next tick of their schedules, and what is shown of each. */
export async function placeOthers(
  others: ReadonlyArray<Omit<OtherPolicy, 'startsAt'>>,
  snapshot: FleetSnapshot,
  beganAt: EpochMs,
): Promise<ReadonlyArray<{ readonly other: OtherPolicy; readonly shown: ShownOther }>> {
  const placed = [];
  for (const each of others) {
    const { policy, targetBuild, upgradableIds } = each;
    const plan = makePlan(policy, targetBuild, { ...snapshot, upgradableIds }, `${policy.name}-20000101-1`);
    const planned = sumOf(plan.waves, ({ members }) => members.length);
    const startsAt = earliest(await ticksOf(policy, { from: beganAt, to: beganAt + startsWithinMs }));
    if (planned === 0 || startsAt === null) continue;
    const shown = { policy: policy.name, targetBuild, planned, startsAt };
    placed.push({ other: { ...each, startsAt }, shown });
  }
  return placed;
}

/** When the policy scans until all collectors that come up again or are installed have joined; empty without any. */
export async function scansFor(
  policy: Policy,
  { upAgain, installed }: Pick<WhatIf, 'upAgain' | 'installed'>,
  beganAt: EpochMs,
): Promise<readonly EpochMs[]> {
  if (upAgain === undefined && installed === undefined) return [];
  const withinMs = Math.max(upAgain?.withinMs ?? 0, installed?.withinMs ?? 0);
  return ticksOf(policy, { from: beganAt, to: beganAt + withinMs + dayMs });
}

function ticksOf({ schedule, timeZone }: Policy, span: { readonly from: EpochMs; readonly to: EpochMs }) {
  return ticksIn({ cron: schedule, timeZone }, span);
}
