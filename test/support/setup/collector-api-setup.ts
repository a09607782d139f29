import { onTestFinished } from 'vitest';
import type { Clock, DurationMs, EpochMs } from '../../../src/base/time.ts';
import { makeFleetService } from '../../../src/collector-api/fleet/fleet-service.ts';
import type { RequestSeen } from '../../../src/collector-api/wire/service-call.ts';
import {
  makeServiceClient,
  type ServiceClientParts,
} from '../../../src/collector-api/wire/service-client.ts';
import type { ApiBudget, BudgetClass } from '../../../src/orchestrator/ports/api-budget.ts';
import { type Script, type ScriptedServer, startScriptedServer } from '../network/scripted-server.ts';
import { testSecrets } from '../test-secrets.ts';

/** A budget that grants at once and writes down what it was told. */
interface BudgetFake extends ApiBudget {
  readonly taken: BudgetClass[];
  readonly pauses: Array<{ readonly forMs: DurationMs; readonly single: boolean }>;
  readonly held: () => number;
  readonly heldMax: () => number;
  readonly successes: () => number;
  /** What was told of the service, in turn: a reason, or `up`. */
  readonly standings: string[];
  /** Grants are given while the service is down from now on. */
  markProbe(isProbe: boolean): void;
  /** Calls are refused from now on; undefined: no longer. */
  refuse(reason: Error | undefined): void;
  /** Grants are marked as given in a `single` phase from now on. */
  markSingle(single: boolean): void;
}

function aBudget(): BudgetFake {
  const taken: BudgetClass[] = [];
  const pauses: Array<{ forMs: DurationMs; single: boolean }> = [];
  let held = 0;
  let heldMax = 0;
  let successes = 0;
  let single = false;
  let isProbe = false;
  let refusal: Error | undefined;
  const standings: string[] = [];
  return {
    standings,
    markProbe: (value) => {
      isProbe = value;
    },
    refuse: (reason) => {
      refusal = reason;
    },
    serviceDown: async (reason) => {
      standings.push(reason);
    },
    serviceUp: async () => {
      standings.push('up');
    },
    taken,
    pauses,
    held: () => held,
    heldMax: () => heldMax,
    successes: () => successes,
    markSingle: (value) => {
      single = value;
    },
    take: async (budgetClass, signal) => {
      signal?.throwIfAborted();
      if (refusal !== undefined) throw refusal;
      taken.push(budgetClass);
      held += 1;
      heldMax = Math.max(heldMax, held);
      return {
        waitedMs: 7,
        single,
        isProbe,
        giveBack: () => {
          held -= 1;
        },
      };
    },
    pause: async (pause) => {
      pauses.push(pause);
      return pause.forMs;
    },
    succeeded: async () => {
      successes += 1;
    },
  };
}

interface SettableClock extends Clock {
  set(now: EpochMs): void;
}

function aClock(now: EpochMs = Date.UTC(2026, 10, 21, 12)): SettableClock {
  let instant = now;
  return {
    now: () => instant,
    set: (next) => {
      instant = next;
    },
  };
}

export const { accessId, accessKey } = testSecrets.scripted;

export interface CollectorApiSetup {
  readonly server: ScriptedServer;
  readonly budget: BudgetFake;
  readonly clock: SettableClock;
  readonly client: ReturnType<typeof makeServiceClient>;
  readonly fleet: ReturnType<typeof makeFleetService>;
  readonly seen: RequestSeen[];
  readonly throttled: Array<{ reason: string; pauseMs: DurationMs }>;
  readonly moved: string[];
  readonly slept: DurationMs[];
  /** What each inventory told of rows that can't be read. */
  readonly unreadable: number[];
}

/** The adapter against a scripted server: real HTTP, no real waiting. It ends with the test, which is no concurrent one. */
export async function aCollectorApi(
  script: Script,
  options: Partial<ServiceClientParts> & { readonly pageSize?: number } = {},
): Promise<CollectorApiSetup> {
  const server = await startScriptedServer(script);
  const budget = aBudget();
  const clock = aClock();
  const seen: RequestSeen[] = [];
  const throttled: Array<{ reason: string; pauseMs: DurationMs }> = [];
  const moved: string[] = [];
  const slept: DurationMs[] = [];
  const unreadable: number[] = [];
  const { pageSize, ...parts } = options;
  const client = makeServiceClient({
    baseUrl: `${server.url}/api`,
    accessId,
    accessKey,
    allowedHosts: [],
    requestTimeoutMs: 5_000,
    budget,
    clock,
    random: () => 0.5,
    observer: {
      onRequest: (request) => seen.push(request),
      onThrottled: (event) => throttled.push(event),
      onMoved: (baseUrl) => moved.push(baseUrl),
    },
    ...parts,
  });
  const fleet = makeFleetService({
    client,
    clock,
    sleep: async (durationMs) => {
      slept.push(durationMs);
    },
    onUnreadable: (rows) => unreadable.push(rows),
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  onTestFinished(async () => {
    await fleet.close();
    await server.close();
  });
  return {
    server,
    budget,
    clock,
    client,
    fleet,
    seen,
    throttled,
    moved,
    slept,
    unreadable,
  };
}
