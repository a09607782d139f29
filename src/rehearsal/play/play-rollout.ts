import type { EpochMs } from '../../base/time.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import type { VirtualService } from '../world/virtual-service.ts';
import { approvalOf, never, type Stage, startEngine } from './engine.ts';

/** The result of a rollout, until it ended or waits for a person. */
export interface Played {
  readonly rollout: Rollout;
  readonly store: RolloutStore;
  readonly service: VirtualService;
  /** The reason of its state; after a rollback, the reason for that. */
  readonly cause: RolloutReason;
  /** When it ended, or stopped until a person acts. Upgrades that were running then are watched to their end. */
  readonly stoppedAt: EpochMs;
  readonly planned: number;
}

// Ten times as many as a rollout needs. One that never settles must fail, not hang.
const roundsMax = 3_000_000;

/** Simulates one rollout on a virtual clock, including its rollback if the policy has one. */
export async function playRollout(stage: Stage): Promise<Played> {
  const engine = await startEngine(stage);
  const { time, store, service, jobs, agenda, frozen } = engine;
  let { rollout }: { rollout: Rollout } = frozen;
  let wakeAt: EpochMs = time.now;
  let reconciledAt: EpochMs = Number.NEGATIVE_INFINITY;
  let approveAt: EpochMs = never;
  let changedAt: EpochMs = time.now;
  let rollbackCause: RolloutReason | undefined;
  const moveTo = async (at: EpochMs): Promise<void> => {
    time.now = Math.max(time.now, at);
    await engine.lists.readUntil(time.now);
  };
  const pass = async (): Promise<void> => {
    time.isWoken = false;
    reconciledAt = time.now;
    if (approveAt <= time.now) await engine.approve();
    wakeAt = await engine.reconcileAll();
    const { state } = rollout;
    rollout = (await store.loadRollout(rollout.id)) ?? rollout;
    if (rollout.state !== state || rollout.state === 'running') changedAt = time.now;
    if (rollout.state === 'rollingBack') rollbackCause ??= rollout.reason;
    const isWaiting = approvalOf(rollout, time.now) !== undefined;
    if (!isWaiting) approveAt = never;
    else if (approveAt <= time.now || approveAt === never) approveAt = stage.approvedAt(time.now);
  };
  for (let round = 0; rollout.endedAt === null; round += 1) {
    if (round > roundsMax) throw new Error(`seed ${stage.seed}: did not settle in ${roundsMax} rounds`);
    const passAt = Math.min(approveAt, wakeAt, time.isWoken ? reconciledAt + stage.passPauseMs : never);
    const job = jobs.first();
    const jobAt = job === undefined ? never : stage.budget.freeFrom(Math.max(job.at, time.now));
    const entry = agenda.first();
    if (entry !== undefined && entry.at <= Math.min(passAt, jobAt)) {
      await moveTo(entry.at);
      agenda.dropFirst();
      await entry.thing();
    } else if (job === undefined || passAt <= time.now || passAt <= jobAt) {
      if (passAt === never) break;
      await moveTo(passAt);
      await pass();
    } else {
      await moveTo(jobAt);
      jobs.take();
      jobs.settle(job.thing, await engine.run(job.thing));
    }
  }
  const cause = rollbackCause ?? rollout.reason;
  const stoppedAt = rollout.endedAt ?? changedAt;
  return { rollout, cause, store, service, stoppedAt, planned: frozen.upgrades.length };
}
