import { join } from 'node:path';
import type { RecordSnapshot } from '../../src/reference-service/api/service-record.ts';
import { parseScenario, type ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import type { ReferenceService } from '../../src/reference-service/server/start-reference-service.ts';
import { startReferenceService } from '../../src/reference-service/server/start-reference-service.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { nightCredentials, nightSpeed } from '../support/night/daemon-night.ts';

/** A service that can be restarted: its fleet and tasks stay, and its record goes on. */
export interface ChaosService {
  readonly url: string;
  /** Of this moment: a restart makes a new one. */
  now(): ReferenceService;
  record(): RecordSnapshot;
  stop(): Promise<void>;
  /** On the same port, with the world as it was. */
  startAgain(): Promise<void>;
}

/** Accepted in any one real second; see `daemon-night.ts`, whose config the daemons get. */
const requestsPerSecond = 240;

/** A fleet in which every upgrade goes well, and takes half a second to two seconds of ours. */
export async function startChaosService(folder: string, changes: ScenarioInput = {}): Promise<ChaosService> {
  const scenario = parseScenario({
    naturalFailures: { failed: 0, timeout: 0, lost: 0, lostMac: 0 },
    ...changes,
    fleet: { size: 200, seed: 'chaos', shares: { dead: 0, unparsableVersion: 0 }, ...changes.fleet },
    durations: { median: '5m', p95: '8m', min: '3m', max: '10m', ...changes.durations },
    limits: { requestsPerSecond: requestsPerSecond / nightSpeed, ...changes.limits },
    failures: [{ outcome: 'succeeded' }],
  });
  const start = (port: number) =>
    startReferenceService({
      credentials: [nightCredentials],
      speed: nightSpeed,
      scenario,
      port,
      state: join(folder, 'service.json'),
    });
  // It is asked while it is away, too, and comes back there.
  const port = await findFreePort();
  let service = await start(port);
  const { url } = service;
  const earlier: RecordSnapshot[] = [];
  let isStopped = false;
  return {
    url,
    now: () => service,
    record: () => [...earlier, ...(isStopped ? [] : [service.record.snapshot()])].reduce(joined),
    stop: async () => {
      if (isStopped) return;
      await service.close();
      earlier.push(service.record.snapshot());
      isStopped = true;
    },
    startAgain: async () => {
      service = await start(port);
      isStopped = false;
    },
  };
}

/** Two records of one service, the second after the first. */
function joined(first: RecordSnapshot, second: RecordSnapshot): RecordSnapshot {
  return {
    creates: [...first.creates, ...second.creates],
    createsPerCollector: sum(first.createsPerCollector, second.createsPerCollector),
    needlessCreates: first.needlessCreates + second.needlessCreates,
    tasksInFlight: second.tasksInFlight,
    tasksInFlightMax: Math.max(first.tasksInFlightMax, second.tasksInFlightMax),
    requests: sum(first.requests, second.requests),
    throttled: sum(first.throttled, second.throttled),
    refusedCreates: sum(first.refusedCreates, second.refusedCreates),
    signIns: sum(first.signIns, second.signIns),
    faults: sum(first.faults, second.faults),
    requestsInOneSecondMax: Math.max(first.requestsInOneSecondMax, second.requestsInOneSecondMax),
    concurrentRequestsMax: Math.max(first.concurrentRequestsMax, second.concurrentRequestsMax),
  };
}

function sum<Counts extends Readonly<Record<string, number>>>(first: Counts, second: Counts): Counts {
  const total: Record<string, number> = { ...first };
  for (const [key, count] of Object.entries(second)) total[key] = (total[key] ?? 0) + count;
  return total as Counts;
}
