import { repairedWords } from '../../rollout/messages/events.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import { isRolloutEnd, type RolloutView } from '../../rollout/model/rollout.ts';
import {
  type CorruptUpgrade,
  nameOfCorrupt,
  repairUpgrade,
  type Settlement,
} from '../../rollout/upgrade/repair-upgrade.ts';
import type { VerbJudgement } from '../../rollout/verbs/verbs.ts';
import { endUpgrades } from '../lead/end-upgrades.ts';
import { changeRollout, stopRollout } from '../records/change-rollout.ts';
import { describeRepairedUpgrade } from '../records/describe-change.ts';
import { loadRolloutSummary, type ViewParts } from '../records/read-records.ts';
import type { ApplyVerbParts } from './apply-verb.ts';
import type { RepairPreview, RepairRequest } from './operations.ts';

/**
 * Settles corrupt records in the way that an operator chose. A rollout with a corrupt record of its own ends as aborted.
 * @returns undefined when there is no such rollout
 */
export async function repair(
  parts: ApplyVerbParts,
  request: RepairRequest,
): Promise<Extract<VerbJudgement, { kind: 'refused' }> | 'repaired' | undefined> {
  const { rolloutId, collectorId, settlement, by, reason } = request;
  const view = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
  if (view === undefined) return undefined;
  const { unreadable } = view.rollout;
  if (unreadable?.kind === 'newer')
    return { kind: 'refused', refusal: { kind: 'recordUnreadable', unreadable } };
  const isOwnMeant = unreadable !== undefined && collectorId === undefined;
  if (isOwnMeant) await endCorrupt(parts, view, request);
  const at = parts.clock.now();
  const replace = (corrupt: CorruptUpgrade, groups: PlanGroups, as: Settlement) => {
    const upgrade = repairUpgrade(corrupt, as, { rollout: view.rollout, groups, at });
    const words = repairedWords({ by, reason }, corrupt.text);
    return { upgrade, event: describeRepairedUpgrade(view.rollout, upgrade, { at, by, reason: words }) };
  };
  const repaired = await parts.store.repair(
    { rolloutId, settlement, ...(collectorId !== undefined && { collectorId }) },
    replace,
  );
  for (const { event } of repaired) parts.sink.report(event);
  if (repaired.length > 0)
    await changeRollout(parts, rolloutId, by, ({ rollout }) =>
      !isRolloutEnd(rollout.state) && rollout.heldStrata.some(({ attributes }) => attributes !== undefined)
        ? { kind: 'upgradesRepaired', at }
        : undefined,
    );
  parts.wakeUps.wake();
  if (isOwnMeant || repaired.length > 0) return 'repaired';
  return { kind: 'refused', refusal: { kind: 'nothingCorrupt', collectorId: collectorId ?? null } };
}

/** What `repair` would settle now; it writes nothing. @returns undefined when there is no such rollout */
export async function findRepairs(
  parts: ViewParts & Pick<ApplyVerbParts, 'clock'>,
  { rolloutId, collectorId }: Pick<RepairRequest, 'rolloutId' | 'collectorId'>,
): Promise<Extract<VerbJudgement, { kind: 'refused' }> | RepairPreview | undefined> {
  const view = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
  if (view === undefined) return undefined;
  const { unreadable } = view.rollout;
  if (unreadable?.kind === 'newer')
    return { kind: 'refused', refusal: { kind: 'recordUnreadable', unreadable } };
  const ownRecord = unreadable !== undefined && collectorId === undefined;
  const corrupt = (await parts.store.findCorrupt(rolloutId)).filter(
    (each) => collectorId === undefined || each.collectorId === collectorId,
  );
  if (!ownRecord && corrupt.length === 0)
    return { kind: 'refused', refusal: { kind: 'nothingCorrupt', collectorId: collectorId ?? null } };
  const upgrades = corrupt.map((each) => ({
    collectorId: each.collectorId,
    collectorName: nameOfCorrupt(each),
    mayRun: each.mayRun,
  }));
  return { rollout: rolloutId, ownRecord, upgrades };
}

/** Ends a rollout with a corrupt record. The leader withdraws waiting upgrades; running ones are watched or unconfirmed. */
async function endCorrupt(parts: ApplyVerbParts, view: RolloutView, request: RepairRequest): Promise<void> {
  const { rolloutId, settlement, by } = request;
  const reason = { kind: 'repaired', by, words: request.reason } as const;
  await stopRollout(parts, rolloutId, by, ({ rollout: { state, unreadable } }) =>
    unreadable === undefined || isRolloutEnd(state)
      ? undefined
      : { kind: 'aborted', at: parts.clock.now(), reason },
  );
  if (settlement !== 'watch') await endUpgrades(parts, view.rollout, { kind: 'abandoned', reason });
}
