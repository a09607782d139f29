import type { StepOutcome, StepQueue } from '../../../src/orchestrator/ports/leader.ts';
import { dueAtOf } from '../../../src/rollout/model/upgrade.ts';
import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import { mayWork } from './daemon-model.ts';
import type { ProcessModel } from './process-model.ts';

interface Job {
  readonly rolloutId: string;
  readonly collectorId: number;
  /** `lost`: it exists, but in no list from which it could be taken. */
  state: 'waiting' | 'active' | 'lost';
  /** Counts its deliveries: what an earlier one says afterwards is not listened to. */
  turn: number;
  putAt: number;
}

/** The queue of steps: it may lose a job, or deliver one twice. */
export interface JobModel {
  queueOf(process: ProcessModel): StepQueue;
  /** Those that were put there since then are in no list any more. */
  loseSince(instant: number): void;
  /** All are gone; what runs goes on, and nobody hears of its end. */
  forget(): void;
  /** Jobs that are waiting or active, of rollouts that are not left alone. */
  open(isLeftAlone: (rolloutId: string) => boolean): number;
  /** When the first step whose job was lost is due; infinite when no lost job has a step to run. */
  lostDueAt(): number;
}

export interface StepRunner {
  readonly process: ProcessModel;
  run(of: { readonly rolloutId: string; readonly collectorId: number }): Promise<StepOutcome>;
  /** One that leads looks again. */
  hear(): void;
}

// BullMQ takes a job from a worker that does not renew its lock for so long.
const stalledAfterMs = 30_000;

export function makeJobModel(night: Night, runners: () => readonly StepRunner[]): JobModel {
  const { scheduler, setup, verdicts, seen } = night;
  const chances = makeChances(setup.seed, 'jobs');
  const jobs = new Map<string, Job>();
  const lost = new Set<Job>();

  const enqueue = (key: string, job: Job, at: number): void => {
    const isLost = night.strikes('jobLost', chances);
    job.state = isLost ? 'lost' : 'waiting';
    if (isLost) lost.add(job);
    else lost.delete(job);
    job.turn += 1;
    job.putAt = scheduler.now();
    const { turn } = job;
    // A leader that skips looks learns here that there will be something to find.
    if (isLost)
      scheduler.at(scheduler.now() + 1, () => {
        for (const { hear } of runners()) hear();
      });
    else
      scheduler.at(at, () => {
        if (jobs.get(key) === job && job.turn === turn && job.state === 'waiting') start(key, job);
      });
  };
  const start = (key: string, job: Job): void => {
    const able = runners().filter(
      ({ process }) =>
        process.isAlive() && process.stalledUntil() <= scheduler.now() && mayWork(night, process),
    );
    const runner = chances.some(able);
    if (runner === undefined) {
      scheduler.at(scheduler.now() + 1_000, () => {
        if (jobs.get(key) === job && job.state === 'waiting') start(key, job);
      });
      return;
    }
    job.state = 'active';
    job.turn += 1;
    const { turn } = job;
    const isMine = () => jobs.get(key) === job && job.turn === turn;
    const { process } = runner;
    const watch = (): void => {
      if (!isMine()) return;
      const isStuck = !process.isAlive() || process.stalledUntil() > scheduler.now();
      if (isStuck) enqueue(key, job, scheduler.now());
      else scheduler.at(scheduler.now() + stalledAfterMs, watch);
    };
    if (night.isTroubled()) scheduler.at(scheduler.now() + stalledAfterMs, watch);
    void runOnce(runner, job).then((outcome) => {
      if (!isMine()) return;
      if (outcome?.job === 'end') jobs.delete(key);
      // The job's own clock is that of the process that ran it.
      else
        enqueue(
          key,
          job,
          scheduler.now() + (outcome === undefined ? 2_000 : outcome.at - process.clock.now()),
        );
    });
    const second = night.strikes('jobDoubled', chances) ? chances.some(able) : undefined;
    if (second !== undefined)
      scheduler.at(scheduler.now() + chances.int(0, 2_000), () => void runOnce(second, job));
  };
  const runOnce = async ({ process, run }: StepRunner, { rolloutId, collectorId }: Job) => {
    try {
      return await run({ rolloutId, collectorId });
    } catch (error) {
      verdicts.thrown(`step of ${collectorId} in ${process.name}`, error);
      return undefined;
    }
  };
  const deliver = async (rolloutId: string, ids: readonly number[], isNow: boolean): Promise<void> => {
    for (const collectorId of ids) {
      const key = `${rolloutId}/${collectorId}`;
      const job = jobs.get(key) ?? { rolloutId, collectorId, state: 'lost' as const, turn: 0, putAt: 0 };
      const isNew = !jobs.has(key);
      jobs.set(key, job);
      if (isNew || (isNow && job.state !== 'active')) enqueue(key, job, scheduler.now());
    }
  };
  return {
    queueOf: (process) => ({
      deliver: async (rolloutId, ids) => {
        await night.point(process);
        await deliver(rolloutId, ids, false);
      },
      bringForward: async (rolloutId, ids) => {
        await night.point(process);
        await deliver(rolloutId, ids, true);
      },
    }),
    loseSince: (instant) => {
      for (const job of jobs.values()) {
        if (job.state !== 'waiting' || job.putAt < instant) continue;
        job.state = 'lost';
        job.turn += 1;
        lost.add(job);
      }
    },
    forget: () => {
      jobs.clear();
      lost.clear();
    },
    open: (isLeftAlone) => {
      const open = jobs.size - lost.size;
      if (open === 0) return 0;
      let alone = 0;
      for (const job of jobs.values()) if (job.state !== 'lost' && isLeftAlone(job.rolloutId)) alone += 1;
      return open - alone;
    },
    lostDueAt: () => {
      let first = Number.POSITIVE_INFINITY;
      for (const { rolloutId, collectorId } of lost) {
        const upgrade = seen.all.get(rolloutId)?.upgrades.get(collectorId);
        // One that waits for its turn gets its job anew, when it is admitted.
        if (upgrade === undefined || upgrade.progress.state === 'retrying') continue;
        first = Math.min(first, dueAtOf(upgrade) ?? Number.POSITIVE_INFINITY);
      }
      return first;
    },
  };
}
