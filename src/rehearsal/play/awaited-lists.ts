import type { EpochMs } from '../../base/time.ts';
import type { ChangeRolloutParts } from '../../orchestrator/records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFact } from '../../orchestrator/records/change-upgrade.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { dueAtOf, isIn, type UpgradeIn } from '../../rollout/model/upgrade.ts';
import { evolve } from '../../rollout/upgrade/evolve.ts';
import type { MemoryRolloutStore } from '../store/memory-rollout-store.ts';
import type { VirtualService } from '../world/virtual-service.ts';
import type { Job } from './jobs.ts';
import type { ListReadings } from './list-readings.ts';

interface AwaitParts extends Pick<ChangeRolloutParts, 'sink' | 'wakeUps'>, ChangeUpgradeParts {
  readonly store: MemoryRolloutStore;
  readonly service: Pick<VirtualService, 'endOf' | 'returnOf' | 'rowOf'>;
  readonly policyOf: (rolloutId: string) => Policy;
  readonly lists: Pick<ListReadings, 'isShown' | 'nextAt'>;
}

/** `at`: when the job comes back; undefined when it is over. */
export type Awaited = { readonly at: EpochMs | undefined };

/**
 * Lets an upgrade wait for the list that shows the end of its task, or the return of its collector. It records what the
 * watch of a daemon would record.
 * @returns undefined when a step of the daemon is due
 */
export function makeAwaitLists(parts: AwaitParts): (job: Job, now: EpochMs) => Promise<Awaited | undefined> {
  const { store } = parts;
  return async ({ rolloutId, collectorId }, now) => {
    const upgrade = store.peek(rolloutId, collectorId);
    if (upgrade === undefined || (dueAtOf(upgrade) ?? now) <= now) return undefined;
    if (isIn(upgrade, 'upgrading')) return awaitEnd(parts, upgrade, now);
    return isIn(upgrade, 'verifying') ? await awaitReturn(parts, upgrade, now) : undefined;
  };
}

function awaitEnd(parts: AwaitParts, upgrade: UpgradeIn<'upgrading'>, now: EpochMs): Awaited | undefined {
  const { store, service, lists, policyOf, answerWithinMs } = parts;
  const { taskId, ending, dueAt } = upgrade.progress;
  const endsAt = taskId === null || ending !== null ? undefined : service.endOf(taskId);
  if (endsAt === undefined) return undefined;
  const isShown = endsAt <= now && lists.isShown('end', endsAt);
  if (endsAt <= now && !isShown) return { at: Math.min(dueAt, lists.nextAt('end', now)) };
  const after = evolve(
    upgrade,
    isShown ? { kind: 'changeHinted', at: now } : { kind: 'unchanged', at: now, until: endsAt },
    { policy: policyOf(upgrade.identity.rolloutId), answerWithinMs, jitter: 0 },
  );
  // The state is the same, so that no event and no count is due.
  store.swap(upgrade, after);
  return isShown ? undefined : { at: Math.min(endsAt, dueAtOf(after) ?? endsAt) };
}

async function awaitReturn(
  parts: AwaitParts,
  upgrade: UpgradeIn<'verifying'>,
  now: EpochMs,
): Promise<Awaited | undefined> {
  const { store, service, lists } = parts;
  const { rolloutId, collectorId } = upgrade.identity;
  const { dueAt, endedServiceAt } = upgrade.progress;
  const returnsAt = service.returnOf(collectorId, endedServiceAt ?? now);
  if (returnsAt > now) return { at: Math.min(dueAt, returnsAt) };
  if (!lists.isShown('return', returnsAt)) return { at: Math.min(dueAt, lists.nextAt('return', now)) };
  const [rollout, row] = [await store.loadRollout(rolloutId), service.rowOf(collectorId)];
  if (rollout === undefined || row === undefined) return undefined;
  const fact = { kind: 'collectorSeen', at: now, ...row, upgradable: null } as const;
  const { progress } = await recordFact(parts, rollout, upgrade, fact);
  return progress.state === 'verifying' ? undefined : { at: undefined };
}
