import type { EpochMs } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { dueAtOf } from '../../rollout/model/upgrade.ts';
import { evolve, nextStep } from '../../rollout/upgrade/evolve.ts';
import type { MemoryRolloutStore } from '../store/memory-rollout-store.ts';
import type { VirtualService } from '../world/virtual-service.ts';
import type { ListReadings } from './list-readings.ts';

/**
 * Polls a running task, which changes only the time of its next poll. More than half of all steps are such polls. They
 * follow the same rules as `runStep`, without the store and events. With list readings, the next poll waits for the reading
 * that shows the task's end.
 * @returns when the next poll is due; undefined, without any effect, when the step is another one
 */
export function makeQuietPolls(
  parts: { readonly answerWithinMs: number; readonly random: () => number },
  {
    store,
    service,
    policy,
    lists,
  }: {
    readonly store: Pick<MemoryRolloutStore, 'peek' | 'swap'>;
    readonly service: Pick<VirtualService, 'pollRunning'>;
    readonly policy: Policy;
    readonly lists: Pick<ListReadings, 'nextAt'>;
  },
): (of: { readonly rolloutId: string; readonly collectorId: number }, now: EpochMs) => EpochMs | undefined {
  return ({ rolloutId, collectorId }, now) => {
    const before = store.peek(rolloutId, collectorId);
    if (before?.progress.state !== 'upgrading' || now >= before.progress.deadlineAt) return undefined;
    const step = nextStep(before, now);
    const seen = step.do === 'pollTask' ? service.pollRunning(step.taskId) : undefined;
    if (seen === undefined) return undefined;
    const { answerWithinMs, random } = parts;
    const context = { policy, answerWithinMs, jitter: random() * 2 - 1 };
    const polled = evolve(before, { kind: 'taskSeen', at: now, ...seen.sighting }, context);
    const after = evolve(polled, { kind: 'unchanged', at: now, until: lists.nextAt(seen.endsAt) }, context);
    store.swap(before, after);
    return dueAtOf(after);
  };
}
