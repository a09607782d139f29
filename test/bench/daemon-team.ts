import { randomBytes } from 'node:crypto';
import type { DurationMs, EpochMs } from '../../src/base/time.ts';
import type { RecordSnapshot } from '../../src/reference-service/api/service-record.ts';
import { startProcess } from '../support/redis/start-test-redis.ts';
import { until } from '../support/until.ts';
import { benchConfig, type Pace } from './bench-config.ts';
import { scenarioOf } from './contest/contest.ts';
import { findBrokenInRecord } from './contest/promises.ts';
import { preciseNow } from './processes/child-process.ts';
import { type DaemonProcess, type LogLine, startDaemon } from './processes/daemon-process.ts';
import { startServiceProcess } from './processes/service-process.ts';

export type Role = 'follower' | 'leader';

export interface TeamBrief extends Pace {
  readonly daemons: number;
  readonly collectors: number;
  /** False: the service takes whatever comes, so that the daemons are the limit. */
  readonly isLimited: boolean;
}

/** Daemons in the middle of a rollout. */
export interface Team {
  isOver(): boolean;
  /** Ends a daemon with this role at once, and starts another. @returns when it was killed */
  kill(role: Role): Promise<EpochMs>;
}

export interface TeamRun {
  /** From the first create to the last end. */
  readonly tookMs: DurationMs;
  readonly requests: number;
  /** When creates arrived, by our clock, in order. */
  readonly createsAt: readonly EpochMs[];
  readonly broken: readonly string[];
}

const durations = { median: '50s', p95: '70s', max: '90s' };
const overWithinMs = 600_000;

/** Lets several daemons upgrade one fleet. @param during called when upgrades start */
export async function runTeam(brief: TeamBrief, during: (team: Team) => Promise<void>): Promise<TeamRun> {
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const limits = brief.isLimited ? {} : { limits: { requestsPerSecond: null, concurrentRequests: null } };
  const scenario = { ...scenarioOf({ ...brief, durations }), ...limits };
  const redis = await startProcess();
  const service = await startServiceProcess({ scenario, speed: brief.speed, credentials });
  const config = benchConfig(
    brief,
    { ...service, credentials, redisUrl: redis.url },
    { schedule: '0 * * * *' },
  );
  const unlimited = { service: { ...config.service, requestsPerSecond: 10_000, concurrentRequests: 1_000 } };
  const seen = new Set<string>();
  const onLine = ({ event }: LogLine) => void seen.add(event);
  const start = () =>
    startDaemon({ ...config, ...(brief.isLimited ? {} : unlimited), log: { level: 'info' } }, onLine);
  let daemons: readonly DaemonProcess[] = [];
  try {
    daemons = await Promise.all(Array.from({ length: brief.daemons }, start));
    await until('a first wave', () => seen.has('wave.opened'));
    const isOver = () => seen.has('rollout.succeeded') || seen.has('rollout.finishedWithFailures');
    await during({
      isOver,
      kill: async (role) => {
        const victim = await until(`a ${role}`, () =>
          daemons.some((daemon) => daemon.isLeading())
            ? daemons.find((daemon) => daemon.isLeading() === (role === 'leader'))
            : undefined,
        );
        const killedAt = preciseNow();
        await victim.stop('SIGKILL');
        daemons = [...daemons.filter((daemon) => daemon !== victim), await start()];
        return killedAt;
      },
    });
    // The daemon that ended the rollout may have been killed before it wrote its line.
    const [anyone] = daemons;
    await until(
      'the end of the rollout',
      async () => isOver() || (await anyone?.api.listRollouts())?.every(({ endedAt }) => endedAt !== null),
      overWithinMs,
    );
    const states = (await anyone?.api.listRollouts())?.map(({ state }) => state) ?? [];
    const complaints = states.join() === 'succeeded' ? [] : [`the rollout is ${states.join()}`];
    return judge(brief, await service.readRecord(), service.toRealTime, complaints);
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')));
    await service.stop();
    await redis.close();
  }
}

function judge(
  brief: TeamBrief,
  record: RecordSnapshot,
  toRealTime: (serviceAt: EpochMs) => EpochMs,
  complaints: readonly string[],
): TeamRun {
  const createsAt = record.creates.map(({ at }) => toRealTime(at)).toSorted((a, b) => a - b);
  const endsAt = record.creates.map((create) => toRealTime(create.endsAt));
  return {
    tookMs: Math.max(...endsAt) - (createsAt[0] ?? Number.NaN),
    requests: Object.values(record.requests).reduce((sum, count) => sum + count, 0),
    createsAt,
    broken: [...complaints, ...findBrokenInRecord(brief, record)],
  };
}
