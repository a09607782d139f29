import { holdsSlot, isEnd, type UpgradeProgress } from '../../src/rollout/model/upgrade.ts';
import { targetBuild } from '../support/builders.ts';
import { collectorOf, isRunningTask, runningTaskOf } from './small-service.ts';
import type { Create, SmallWorld } from './small-world.ts';

/** A broken promise (DESIGN §2). */
export interface Violation {
  readonly promise: string;
  readonly words: string;
}

/** Judges a create at the instant at which it leaves. */
export function judgeCreate(world: SmallWorld, create: Create): readonly Violation[] {
  const { collectorId, rolloutId } = create;
  const { service, creates, stopped } = world;
  const others = creates.filter((each) => each !== create);
  const under = others.filter(({ answer }) => answer === null);
  const collector = collectorOf(service, collectorId);
  const broken: Violation[] = [];
  const isUnderWay = under.some((each) => each.collectorId === collectorId);
  if (isUnderWay || runningTaskOf(service, collectorId) !== undefined)
    broken.push({ promise: 'P1', words: `a second task of collector ${collectorId}` });
  if (collector.restartsSince !== null)
    broken.push({
      promise: 'P1',
      words: `a task of collector ${collectorId}, which restarts into the build`,
    });
  if (collector.build === targetBuild)
    broken.push({ promise: 'P1', words: `a task of collector ${collectorId} for the build that it runs` });
  if (stopped.includes(rolloutId))
    broken.push({ promise: 'P4', words: `a create of ${rolloutId} after its stop was acknowledged` });
  const beside = under.filter((each) => each.rolloutId === rolloutId).length;
  return [...broken, ...judgeLimits(world, create, beside)];
}

function judgeLimits(
  world: SmallWorld,
  { rolloutId, collectorId }: Create,
  underWay: number,
): readonly Violation[] {
  const { service, store, hasForgotten } = world;
  const kept = store.rollouts.find(({ rollout }) => rollout.id === rolloutId);
  if (kept === undefined) return [{ promise: 'P5', words: `a create of ${rolloutId}, which is not there` }];
  const { rollout, upgrades } = kept;
  const broken: Violation[] = [];
  const ours = service.tasks.filter((task) => isRunningTask(task) && task.rolloutId === rolloutId);
  const running = ours.length + underWay;
  if (!hasForgotten && running >= rollout.policy.concurrency)
    broken.push({ promise: 'P2', words: `${running + 1} run, and ${rollout.policy.concurrency} may` });
  const wave = upgrades.find(({ identity }) => identity.collectorId === collectorId)?.identity.wave ?? -1;
  // Deferred ones do not delay a gate.
  const isOpen = ({ state }: UpgradeProgress) => !isEnd(state) && state !== 'deferred';
  const isEarly = upgrades.some(({ identity, progress }) => identity.wave < wave && isOpen(progress));
  if (isEarly && !hasForgotten)
    broken.push({ promise: 'P3', words: `a create of wave ${wave} while an earlier wave is open` });
  return broken;
}

/** Judges what the store keeps against what is so. */
export function judgeRecords({ store, service, hasForgotten, faults }: SmallWorld): readonly Violation[] {
  return store.rollouts.flatMap(({ rollout, upgrades }) =>
    upgrades.flatMap(({ identity: { collectorId, rolloutId }, progress: { state } }) => {
      const broken: Violation[] = [];
      const { build } = collectorOf(service, collectorId);
      if (state === 'succeeded' && build !== targetBuild)
        broken.push({ promise: 'P10', words: `${collectorId} succeeded, and shows ${build}` });
      const task = runningTaskOf(service, collectorId);
      const isOurs = task?.rolloutId === rolloutId;
      // One that timed out, or whose end nobody saw, may run on.
      const isKnown = state === 'timedOut' || state === 'unconfirmed' || holdsSlot(state);
      if (isOurs && !hasForgotten && !isKnown)
        broken.push({ promise: 'P2', words: `${collectorId} is ${state} without a slot, and its task runs` });
      // The target was withdrawn from all. That is no failure of one.
      if (!service.isOffered && state === 'failed' && faults.taskFails === 0)
        broken.push({ promise: 'P6', words: `${collectorId} failed for a target that is withdrawn` });
      if (rollout.endedAt !== null && !isEnd(state))
        broken.push({ promise: 'P9', words: `${rolloutId} has ended, and ${collectorId} is ${state}` });
      return broken;
    }),
  );
}
