import type { EpochMs } from '../../../src/base/time.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { startProcess } from '../../support/redis/start-test-redis.ts';
import { benchConfig } from '../bench-config.ts';
import type { LogLine } from '../processes/daemon-process.ts';
import { startRollout } from '../processes/start-rollout.ts';
import type { ContestantBrief, MeasuredPerformance } from './contestant.ts';

const endEvents = ['rollout.succeeded', 'rollout.finishedWithFailures', 'rollout.held', 'rollout.aborted'];

/** `dist/main.js run` as a process with a Redis process of its own, read by its log. */
export async function runUpwave(brief: ContestantBrief): Promise<MeasuredPerformance> {
  const redis = await startProcess();
  const config = benchConfig(brief, { ...brief, redisUrl: redis.url });
  const endsSeen = new Map<number, EpochMs>();
  let endedAt: (at: EpochMs) => void = () => undefined;
  const ended = new Promise<EpochMs>((resolve) => {
    endedAt = resolve;
  });
  try {
    const onLine = ({ event, collectorId, time }: LogLine) => {
      // A task that ended well is first known when its verification begins, or when a row shows both at once.
      const isEndSeen = event === 'upgrade.verifying' || event === 'upgrade.succeeded';
      if (isEndSeen && collectorId !== undefined && !endsSeen.has(collectorId))
        endsSeen.set(collectorId, Date.parse(time));
      if (endEvents.includes(event)) endedAt(Date.parse(time));
    };
    const daemon = await startRollout(config, onLine, brief);
    try {
      const doneAt = await Promise.race([ended, daemon.failed]);
      const { cpuSeconds, rssPeakBytes } = daemon.usage();
      const [status] = await daemon.api.listRollouts();
      return {
        endsSeen: [...endsSeen].map(([collectorId, at]) => ({ collectorId, at })),
        doneAt,
        complaints: complaintsOf(status),
        cpuSeconds,
        rssPeakBytes,
      };
    } finally {
      await daemon.stop('SIGTERM');
    }
  } finally {
    await redis.close();
  }
}

function complaintsOf(status: RolloutStatus | undefined): readonly string[] {
  if (status === undefined) return ['the rollout is gone'];
  const { state, reason, planned, counts } = status;
  if (state === 'succeeded' && counts.succeeded === planned) return [];
  return [`the rollout is ${state} (${reason}): ${counts.succeeded} of ${planned} collectors succeeded`];
}
