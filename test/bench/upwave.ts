import { randomUUID } from 'node:crypto';
import { Secret } from '../../src/base/secret.ts';
import type { EpochMs } from '../../src/base/time.ts';
import { sleepForReal } from '../../src/base/waiting.ts';
import type { Config } from '../../src/config/config.ts';
import { serviceLimits } from '../../src/contract/collector-management/limits.ts';
import { makeDaemon } from '../../src/daemon/daemon.ts';
import type { LogFields } from '../../src/observability/logger.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import type { RolloutStatus } from '../../src/rollout/status/status.ts';
import { preciseNow } from './child-process.ts';
import type { Contestant, ContestantBrief, EndSeen } from './contestant.ts';
import { benchPolicy } from './policy.ts';

const redisWithinMs = 5_000;

// The end is told by an event; a look now and then finds it too, should that be missed.
const checkEveryMs = 1_000;
const restEvents = ['rollout.succeeded', 'rollout.finishedWithFailures', 'rollout.held', 'rollout.aborted'];

// A daemon that has run for a while knows the service's clock. A service that is played so much faster than ours has to
// answer a few times, apart from each other, before its time can be told from a wrong `Date`.
const warmUpScans = 6;
const warmUpSpacingMs = 60;

/** Selects no collector, so that its scans only read. */
function warmUpPolicy(brief: ContestantBrief): Policy {
  return { ...benchPolicy(brief), name: 'warm-up', select: { include: { name: ['nobody'] }, exclude: [] } };
}

/** The daemon itself, with a real Redis: one wave without a soak, so that nothing but the work takes time. */
export const runUpwave: Contestant = async (brief) => {
  const endsSeen: EndSeen[] = [];
  const rest = new AbortController();
  let doneAt: EpochMs | undefined;
  const note = ({ event, collectorId }: LogFields): void => {
    if (restEvents.includes(event)) {
      doneAt = preciseNow();
      rest.abort();
    }
    // A task that ended well is first known when its proof begins.
    if (event === 'upgrade.verifying' && collectorId !== undefined)
      endsSeen.push({ collectorId, at: preciseNow() });
  };
  const daemon = makeDaemon({
    config: configOf(brief),
    redis: { url: brief.redisUrl, keyPrefix: `bench-${randomUUID()}` },
    logger: { write: (_level, fields) => note(fields) },
    version: 'bench',
    followsSchedule: false,
  });
  try {
    if ((await daemon.waitForRedis(redisWithinMs)) !== undefined) throw new Error('Redis does not answer');
    await daemon.start();
    for (let scan = 0; scan < warmUpScans; scan += 1) {
      await daemon.scanNow(warmUpPolicy(brief).name, 'operator');
      await sleepForReal(warmUpSpacingMs);
    }
    const scan = await daemon.scanNow(benchPolicy(brief).name, 'operator');
    if (scan.kind !== 'started') throw new Error(`no rollout was started: ${JSON.stringify(scan)}`);
    let status: RolloutStatus | undefined;
    do {
      await sleepForReal(checkEveryMs, rest.signal);
      status = await daemon.operations.rolloutStatus(scan.rolloutId);
    } while (status !== undefined && status.endedAt === null && status.state !== 'held');
    return { endsSeen, doneAt: doneAt ?? preciseNow(), complaints: complaintsOf(status) };
  } finally {
    await daemon.close();
  }
};

function complaintsOf(status: RolloutStatus | undefined): readonly string[] {
  if (status === undefined) return ['the rollout is gone'];
  const { state, reason, planned, counts } = status;
  if (state === 'succeeded' && counts.succeeded === planned) return [];
  return [`the rollout is ${state} (${reason}): ${counts.succeeded} of ${planned} collectors succeeded`];
}

function configOf(brief: ContestantBrief): Config {
  return {
    service: {
      baseUrl: brief.baseUrl,
      accessId: new Secret(brief.credentials.accessId),
      accessKey: new Secret(brief.credentials.accessKey),
      allowedHosts: [],
      requestsPerSecond: serviceLimits.requestsPerSecond * brief.speed,
      concurrentRequests: serviceLimits.concurrentRequests,
      budgetShare: 1,
      requestTimeoutMs: 30_000,
    },
    redis: undefined,
    historyMs: 86_400_000,
    notify: [],
    http: { host: '127.0.0.1', port: 0, token: undefined, tokens: [], trustedProxy: undefined },
    log: { level: 'info' },
    rollouts: [benchPolicy(brief), warmUpPolicy(brief)],
  };
}
