import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { invariant } from '../../../src/base/assert.ts';
import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import { readFleet } from '../../../src/cli/rehearse/read-fleet.ts';
import { readConfig } from '../../support/config-fixtures.ts';
import { until } from '../../support/until.ts';
import type { ConfigData } from '../bench-config.ts';
import type { LogLine } from '../processes/daemon-process.ts';
import { type ServiceProcess, startServiceProcess } from '../processes/service-process.ts';
import { startRollout } from '../processes/start-rollout.ts';
import { type Played, policyOf, sceneOf } from './played.ts';
import {
  type FleetSize,
  otherOf,
  policyAt,
  requestsPerSecondUsual,
  type Situation,
  scenarioFor,
} from './situations.ts';

const minute: DurationMs = 60_000;
const longestMs: DurationMs = 40 * minute;
const checkEveryMs: DurationMs = 1_000;

const rehearsedName = 'night';

// From then on no create that Redis may have lost can arrive, so that lists of any age count (decision 6).
const trustedAfterMs: DurationMs = 40_000;

/** By then the daemon runs and has learned the service's clock. */
const startsWithinMs: DurationMs = trustedAfterMs + 15_000;

/** Lets a daemon process play a situation against a service process that runs so many times as fast. */
export async function playInProcesses(
  situation: Situation,
  of: {
    readonly seed: number;
    readonly size: FleetSize;
    readonly speed: number;
    readonly redisUrl: string;
    readonly keyPrefix: string;
  },
): Promise<Played> {
  const { speed, size } = of;
  const credentials = { accessId: 'bench', accessKey: randomBytes(18).toString('base64url') };
  const beganRealAt = Date.now();
  const service = await startServiceProcess({
    scenario: scenarioWithOutage(situation, of),
    speed,
    credentials,
  });
  try {
    const other = otherOf(situation);
    const firstMs = (situation.windows?.firstMs ?? 0) / speed;
    const closesAt = Math.ceil((beganRealAt + startsWithinMs + firstMs) / minute) * minute;
    const config: ConfigData = {
      service: {
        ...{ baseUrl: service.baseUrl, ...credentials },
        requestsPerSecond: (situation.requestsPerSecond ?? requestsPerSecondUsual) * speed,
      },
      redis: { url: of.redisUrl, keyPrefix: of.keyPrefix },
      http: { port: 0 },
      rollouts: [
        { name: rehearsedName, ...policyAt(speed, situation, { closesAt, size }) },
        ...(other === undefined ? [] : [{ name: other.name, ...policyAt(speed, other, { closesAt, size }) }]),
      ],
    };
    const { snapshot, targetBuild, builds } = await readTheFleet(config);
    const ran = await run(config, service, speed);
    // The same time before the first window closes, at real durations.
    const rehearsedClosesAt = Math.ceil(ran.createdAt / minute) * minute + (situation.windows?.firstMs ?? 0);
    const beganAt = situation.windows
      ? rehearsedClosesAt - (closesAt - ran.createdAt) * speed
      : ran.createdAt;
    const aheadMs = (ran.createdAt - beganRealAt) * speed;
    const outage = situation.outage && {
      fromMs: situation.outage.fromMs - aheadMs,
      toMs: situation.outage.toMs - aheadMs,
    };
    return {
      ...{ name: situation.name, state: ran.state, started: ran.started, requests: ran.requests },
      tookMs: (ran.stoppedAt - ran.createdAt) * speed,
      policy: policyOf(situation, { closesAt: rehearsedClosesAt, size }),
      scene: sceneOf(situation, { ...of, beganAt, snapshot, targetBuild, builds, outage }),
    };
  } finally {
    await service.stop();
  }
}

function scenarioWithOutage(situation: Situation, of: Parameters<typeof scenarioFor>[1]) {
  const scenario = scenarioFor(situation, of);
  const { outage } = situation;
  if (outage === undefined) return scenario;
  const inSeconds = (durationMs: DurationMs) => `${durationMs / 1_000}s`;
  const [from, to] = [inSeconds(outage.fromMs), inSeconds(outage.toMs)];
  return { ...scenario, httpFaults: [{ share: 1, fault: '503' as const, from, until: to }] };
}

async function readTheFleet(data: ConfigData) {
  const config = readConfig(JSON.stringify(data));
  const [policy] = config.rollouts;
  invariant(policy !== undefined, 'the config has one policy');
  const silent = new Writable({ write: (_text, _encoding, done) => done() });
  return readFleet(config, policy, { at: 0, others: [] }, { err: silent });
}

interface Ran {
  readonly state: string;
  readonly createdAt: EpochMs;
  readonly stoppedAt: EpochMs;
  readonly started: ReadonlySet<number>;
  readonly requests: number;
}

/** Runs the rollout until nothing of it is in flight. */
async function run(config: ConfigData, service: ServiceProcess, speed: number): Promise<Ran> {
  let heldAt: EpochMs | undefined;
  const onLine = ({ event, time, policy }: LogLine) => {
    if (event === 'rollout.held' && policy === rehearsedName) heldAt = Date.parse(time);
  };
  const daemon = await startRollout(config, onLine, { speed, ranForMs: trustedAfterMs });
  try {
    const before = countRequests(await service.readRecord());
    const rested = until(
      'the end of the rollout',
      async () => {
        // Each answer takes time from the daemon.
        await sleepForReal(checkEveryMs);
        // Its rollback is a rollout, too.
        const status = (await daemon.api.listRollouts()).find(
          ({ kind, policy }) => kind === 'upgrade' && policy === rehearsedName,
        );
        if (status === undefined) return undefined;
        const isStopped = status.endedAt !== null || status.state === 'held';
        return isStopped && status.inFlight === 0 && status;
      },
      longestMs,
    );
    const { state, createdAt, endedAt } = await Promise.race([rested, daemon.failed]);
    const stoppedAt = endedAt ?? heldAt;
    invariant(stoppedAt !== undefined, 'a rollout ends or is held');
    const record = await service.readRecord();
    const started = new Set(record.creates.map(({ collectorId }) => collectorId));
    return { state, createdAt, stoppedAt, started, requests: countRequests(record) - before };
  } finally {
    await daemon.stop('SIGTERM');
  }
}

function countRequests({ requests }: Awaited<ReturnType<ServiceProcess['readRecord']>>): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
