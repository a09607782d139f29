import type { DurationMs } from '../../../../src/base/time.ts';
import { sleepForReal } from '../../../../src/base/waiting.ts';
import { serviceLimits } from '../../../../src/contract/collector-management/limits.ts';
import { taskStatus } from '../../../../src/contract/collector-management/upgrades.ts';
import type { ContestantBrief } from '../contestant.ts';

/** A client as in a script: plain HTTP, keeps the cookie, and waits after a 429. */
export interface RivalClient {
  listUpgradable(): Promise<readonly number[]>;
  createTask(collectorId: number): Promise<string>;
  hasEnded(taskId: string): Promise<boolean>;
  /** Waits for so long in the service's time. */
  sleep(forMs: DurationMs): Promise<void>;
}

/** Lets a request go when it may. */
export type Courtesy = <T>(send: () => Promise<T>) => Promise<T>;

/** As the daemon's budget: a little below the service's limits, evenly spaced, and no more at once than allowed. */
export function makeCourtesy(requestsPerSecond: number): Courtesy {
  const spacingMs = (1_000 / requestsPerSecond) * 1.04;
  const waiting: Array<() => void> = [];
  let out = 0;
  let nextAt = 0;
  return async (send) => {
    if (out >= serviceLimits.concurrentRequests) await new Promise<void>((resolve) => waiting.push(resolve));
    else out += 1;
    try {
      const at = Math.max(performance.now(), nextAt);
      nextAt = at + spacingMs;
      await sleepForReal(at - performance.now());
      return await send();
    } finally {
      // The place goes to the next in line, or is free.
      const next = waiting.shift();
      if (next === undefined) out -= 1;
      else next();
    }
  };
}

// What a script waits after a 429, in the service's time.
const throttledWaitMs = 1_000;
const throttledMax = 1_000;
const pageSize = 1_000;
const pagesMax = 100;

export function makeRivalClient(brief: ContestantBrief, courtesy: Courtesy): RivalClient {
  const { accessId, accessKey } = brief.credentials;
  const authorization = `Basic ${Buffer.from(`${accessId}:${accessKey}`).toString('base64')}`;
  let cookie: string | undefined;
  const sleep = (forMs: DurationMs) => sleepForReal(forMs / brief.speed);

  async function request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    for (let attempt = 0; attempt < throttledMax; attempt += 1) {
      const answer = await courtesy(async () => {
        const response = await fetch(`${brief.baseUrl}/v1${path}`, {
          method,
          headers: {
            authorization,
            'content-type': 'application/json',
            ...(cookie === undefined ? {} : { cookie }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie;
        return { status: response.status, text: await response.text() };
      });
      if (answer.status < 300) return JSON.parse(answer.text);
      if (answer.status !== 429) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      await sleep(throttledWaitMs);
    }
    throw new Error(`${method} ${path}: ${throttledMax} answers 429 in a row`);
  }

  return {
    sleep,
    listUpgradable: async () => {
      const ids: number[] = [];
      for (let page = 0; page < pagesMax; page += 1) {
        const path = `/collectors/upgrades/collectors?limit=${pageSize}&offset=${page * pageSize}`;
        const { collectors } = (await request('GET', path)) as { readonly collectors: Array<{ id: number }> };
        ids.push(...collectors.map(({ id }) => id));
        if (collectors.length < pageSize) break;
      }
      return ids;
    },
    createTask: async (collectorId) => {
      const answer = (await request('POST', '/collectors/upgrades', { collectorId })) as {
        readonly id: string;
      };
      return answer.id;
    },
    hasEnded: async (taskId) => {
      const { upgrade } = (await request('GET', `/collectors/upgrades/${taskId}`)) as {
        readonly upgrade: { readonly status: number };
      };
      return upgrade.status === taskStatus.succeeded || upgrade.status === taskStatus.failed;
    },
  };
}
