import type { EpochMs } from '../../src/base/time.ts';
import { sleepForReal } from '../../src/base/waiting.ts';
import type { RolloutStatus } from '../../src/rollout/status/status.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { until } from '../support/until.ts';
import { benchConfig, idlePolicy } from './bench-config.ts';
import type { ContestantBrief, MeasuredPerformance } from './contestant.ts';
import { type DaemonProcess, startDaemon } from './daemon-process.ts';

const warmUpReadings = 4;
const warmUpSpacingMs = 500;

const endEvents = ['rollout.succeeded', 'rollout.finishedWithFailures', 'rollout.held', 'rollout.aborted'];

/** `dist/main.js run` as a process with a Redis process of its own, read by its log. */
export async function runUpwave(brief: ContestantBrief): Promise<MeasuredPerformance> {
  const redis = await startProcess();
  const config = benchConfig(brief, { ...brief, redisUrl: redis.url }, { approval: true });
  const endsSeen = new Map<number, EpochMs>();
  let endedAt: (at: EpochMs) => void = () => undefined;
  const ended = new Promise<EpochMs>((resolve) => {
    endedAt = resolve;
  });
  try {
    const daemon = await startDaemon(
      { ...config, rollouts: [...config.rollouts, idlePolicy] },
      ({ event, collectorId, time }) => {
        // A task that ended well is first known when its verification begins, or when a row shows both at once.
        const isEndSeen = event === 'upgrade.verifying' || event === 'upgrade.succeeded';
        if (isEndSeen && collectorId !== undefined && !endsSeen.has(collectorId))
          endsSeen.set(collectorId, Date.parse(time));
        if (endEvents.includes(event)) endedAt(Date.parse(time));
      },
    );
    try {
      await warmUp(daemon);
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

/**
 * Lets the daemon learn the service's clock before it starts the first upgrade, as one that has run for a while has. A
 * clock that runs so much faster than ours has to show itself for more than a second (`rollout/model/service-clock.ts`).
 */
async function warmUp({ api }: DaemonProcess): Promise<void> {
  // Right after its start it has no connection to Redis yet.
  const rollouts = () => api.listRollouts().catch(() => []);
  const planned = () => rollouts().then(([status]) => status?.state === 'awaitingApproval' && status);
  const { id, planHash } = await until('a plan', planned);
  for (let reading = 0; reading < warmUpReadings; reading += 1) {
    await sleepForReal(warmUpSpacingMs);
    // Refused, since it selects nobody; but the service has been read.
    await api.previewStart(idlePolicy.name).catch(() => undefined);
  }
  await api.apply({ rolloutId: id, verb: 'approve', planHash, by: 'bench', reason: 'the clock is known' });
}

function complaintsOf(status: RolloutStatus | undefined): readonly string[] {
  if (status === undefined) return ['the rollout is gone'];
  const { state, reason, planned, counts } = status;
  if (state === 'succeeded' && counts.succeeded === planned) return [];
  return [`the rollout is ${state} (${reason}): ${counts.succeeded} of ${planned} collectors succeeded`];
}
