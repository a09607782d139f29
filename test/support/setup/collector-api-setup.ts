import { onTestFinished } from 'vitest';
import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import { makeFleetService } from '../../../src/collector-api/fleet/fleet-service.ts';
import type { RequestSeen } from '../../../src/collector-api/wire/service-call.ts';
import {
  makeServiceClient,
  type ServiceClientParts,
} from '../../../src/collector-api/wire/service-client.ts';
import type { ApiBudget, BudgetClass } from '../../../src/orchestrator/ports/api-budget.ts';
import { type Script, startScriptedServer } from '../network/scripted-server.ts';
import { testSecrets } from '../test-secrets.ts';

/** A budget that grants at once and records its calls. */
function aBudget() {
  const taken: BudgetClass[] = [];
  const pauses: Array<Parameters<ApiBudget['pause']>[0]> = [];
  const standings: string[] = [];
  const grant = { single: false, isProbe: false };
  let held = 0;
  let successes = 0;
  let lefts = 0;
  let refusal: Error | undefined;
  const budget: ApiBudget = {
    serviceDown: async (reason) => void standings.push(reason),
    serviceUp: async () => void standings.push('up'),
    take: async (budgetClass, signal) => {
      signal?.throwIfAborted();
      if (refusal !== undefined) throw refusal;
      taken.push(budgetClass);
      held += 1;
      const giveBack = () => {
        held -= 1;
      };
      const left = () => {
        lefts += 1;
      };
      return { waitedMs: 7, ...grant, left, giveBack };
    },
    pause: async (pause) => {
      pauses.push(pause);
      return pause.forMs;
    },
    succeeded: async () => {
      successes += 1;
    },
  };
  return {
    ...budget,
    taken,
    pauses,
    /** The reported states of the service, in order: a reason why it is down, or `up`. */
    standings,
    held: () => held,
    successes: () => successes,
    /** How many requests have left, by their grants. */
    lefts: () => lefts,
    /** Later grants are probes of a service that is down. */
    markProbe: (isProbe: boolean) => void Object.assign(grant, { isProbe }),
    /** Later grants are marked as given in a `single` phase. */
    markSingle: (single: boolean) => void Object.assign(grant, { single }),
    /** Later calls are refused with this error; undefined: they are granted again. */
    refuse: (reason: Error | undefined) => {
      refusal = reason;
    },
  };
}

function aClock() {
  let instant = Date.UTC(2026, 10, 21, 12);
  return {
    now: () => instant,
    set: (next: EpochMs) => {
      instant = next;
    },
  };
}

export const { accessId, accessKey } = testSecrets.scripted;

export type CollectorApiSetup = Awaited<ReturnType<typeof aCollectorApi>>;

/** The adapter against a scripted server: real HTTP, no real waiting. It ends with the test, which is no concurrent one. */
export async function aCollectorApi(
  script: Script,
  options: Partial<ServiceClientParts> & { readonly pageSize?: number } = {},
) {
  const server = await startScriptedServer(script);
  const budget = aBudget();
  const clock = aClock();
  const seen: RequestSeen[] = [];
  const throttled: Array<{ reason: string; pauseMs: DurationMs }> = [];
  const moved: string[] = [];
  const proxies: string[] = [];
  const slept: DurationMs[] = [];
  /** The number of unreadable rows that each inventory reported. */
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
      onProxy: (proxy) => proxies.push(proxy),
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
    proxies,
    slept,
    unreadable,
  };
}
