import { isSameBuild } from '../../base/build-version.ts';
import type { Clock, EpochMs } from '../../base/time.ts';
import { createUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpRequest } from '../../http/operation-handlers.ts';
import type { SimulatedTask } from '../fleet/upgrade-tasks.ts';
import type { RefusedRequest } from '../scenario/refused-request.ts';

/** The newest requests are kept, each with so much of its body. */
const requestsKeptMax = 1_000;
const bodyKeptMax = 4_000;

/** A request that a client sent. */
export interface NotedRequest {
  /** The service's time. */
  readonly at: EpochMs;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Empty without one. */
  readonly body: string;
  readonly status: number | 'cut';
}

/** The record as plain data: the response of `GET /reference/record`. */
export type RecordSnapshot = ReturnType<ServiceRecord['snapshot']>;

/** The service's record of what clients did, for tests and benchmarks. */
export class ServiceRecord {
  readonly throttled = { rate: 0, concurrency: 0, fault: 0 };
  readonly signIns = { accepted: 0, wrongKey: 0, throttled: 0 };
  readonly #clock: Clock;
  readonly #tasks: SimulatedTask[] = [];
  #open: SimulatedTask[] = [];
  #tasksInFlightMax = 0;
  #needlessCreates = 0;
  #newest: NotedRequest[] = [];
  readonly #createsPerCollector = new Map<number, number>();
  readonly #requests = new Map<string, number>();
  readonly #refusedCreates = new Map<string, number>();
  readonly #faults = new Map<string, number>();
  requestsInOneSecondMax = 0;
  concurrentRequestsMax = 0;

  /** @param clock the service's clock, on which tasks run */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  created(task: SimulatedTask): void {
    this.#tasks.push(task);
    count(this.#createsPerCollector, task.collectorId);
    if (isSameBuild(task.fromVersion, task.toVersion)) this.#needlessCreates++;
    this.#open = this.#open.filter(({ script }) => task.requestedAt < script.endsAt);
    this.#open.push(task);
    // Tasks in flight increase only at a create, so the maximum is updated here.
    this.#tasksInFlightMax = Math.max(this.#tasksInFlightMax, this.#open.length);
  }

  /** Counts a refused create by its code. Other refusals are counted by status only. */
  refused(operation: Operation | undefined, { code }: RefusedRequest): void {
    if (operation?.name === createUpgradeTask.name) count(this.#refusedCreates, code);
  }

  answered({ operation, method, url, body }: HttpRequest, status: number | 'cut'): void {
    count(this.#requests, `${operation?.name ?? 'unknown'} ${status}`);
    this.#newest.push({ at: this.#clock.now(), method, url, body: body.slice(0, bodyKeptMax), status });
    if (this.#newest.length > 2 * requestsKeptMax) this.#newest = this.#newest.slice(-requestsKeptMax);
  }

  /** The newest first. */
  newestRequests(limit: number): readonly NotedRequest[] {
    return this.#newest.slice(-Math.min(limit, requestsKeptMax)).reverse();
  }

  playedFault(fault: string): void {
    count(this.#faults, fault);
    if (fault === '429') this.throttled.fault++;
  }

  get creates() {
    return this.#tasks.map((task) => ({
      taskId: task.id,
      collectorId: task.collectorId,
      fromVersion: task.fromVersion,
      toVersion: task.toVersion,
      at: task.requestedAt,
      /** The drawn end of the task. A collector that dies may change it. */
      endsAt: task.script.endsAt,
    }));
  }

  get tasksInFlightMax(): number {
    return this.#tasksInFlightMax;
  }

  snapshot() {
    const now = this.#clock.now();
    return {
      creates: this.creates,
      createsPerCollector: Object.fromEntries(this.#createsPerCollector),
      /** Creates for the build that the collector already runs. */
      needlessCreates: this.#needlessCreates,
      tasksInFlight: this.#open.filter(({ script }) => now < script.endsAt).length,
      tasksInFlightMax: this.#tasksInFlightMax,
      /** Requests by operation and status, `getCollector 200`. A cut connection has the status `cut`. */
      requests: Object.fromEntries(this.#requests),
      /** 429s by cause. */
      throttled: { ...this.throttled },
      /** Refused creates by code. */
      refusedCreates: Object.fromEntries(this.#refusedCreates),
      signIns: { ...this.signIns },
      faults: Object.fromEntries(this.#faults),
      requestsInOneSecondMax: this.requestsInOneSecondMax,
      concurrentRequestsMax: this.concurrentRequestsMax,
    };
  }
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
