import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServiceStatus } from '../../../../src/orchestrator/ports/api-budget.ts';
import { makeRedisApiBudget } from '../../../../src/redis/api-budget/api-budget.ts';
import { ending } from '../../../support/ending.ts';
import {
  type Script,
  sendJson,
  sendText,
  startScriptedServer,
} from '../../../support/network/scripted-server.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { quietBudget } from '../../../support/redis/redis-adapters.ts';
import { aCollectorApi, accessId } from '../../../support/setup/collector-api-setup.ts';

const redis = useRedis();
const task = { upgrade: { id: 1, status: 1 } };
const answerAfterMs = 15;

/** A service that answers after a moment, and counts how many requests it has open at once. */
async function aService() {
  let answer: Script = (_request, response) => sendJson(response, 200, task, { 'set-cookie': 'session=abc' });
  let open = 0;
  let openMax = 0;
  const script: Script = (request, response) => {
    open += 1;
    openMax = Math.max(openMax, open);
    setTimeout(() => {
      open -= 1;
      void answer(request, response);
    }, answerAfterMs);
  };
  const server = ending(await startScriptedServer(script));
  return {
    server,
    follow: (next: Script) => {
      answer = next;
    },
    /** @returns the most since the last time */
    takeOpenMax: () => {
      const most = openMax;
      openMax = open;
      return most;
    },
  };
}

describe('two daemons on one access key', () => {
  async function twoDaemons() {
    const service = await aService();
    const { keyPrefix } = redis.config();
    const daemon = async () => {
      const reported: ServiceStatus[] = [];
      const budget = makeRedisApiBudget({
        ...quietBudget,
        commands: redis.connect().commands,
        keyPrefix,
        accessId,
        pauseGrowth: { firstMs: 20, maxMs: 40 },
        outageWaitMaxMs: 10_000,
        onStatus: (standing) => reported.push(standing),
      });
      onTestFinished(() => budget.close());
      const api = await aCollectorApi(() => undefined, {
        baseUrl: `${service.server.url}/api`,
        budget,
        signInPauseMs: 60,
      });
      return { fleet: api.fleet, reported, throttled: api.throttled };
    };
    const daemons = [await daemon(), await daemon()] as const;
    const pollAll = (count: number) =>
      Promise.all(daemons.flatMap(({ fleet }) => Array.from({ length: count }, () => fleet.pollTask('1'))));
    // Everyone has signed in.
    await pollAll(2);
    service.takeOpenMax();
    return { service, daemons, pollAll };
  }

  it('probe a service that is down with one request at a time, and continue when it answers', async () => {
    const { service, daemons, pollAll } = await twoDaemons();
    service.follow((_request, response) => sendText(response, 502, '<html>'));
    await pollAll(10);
    for (const { reported } of daemons) expect(reported).toMatchObject([{ isUp: false }]);
    service.takeOpenMax();
    const before = service.server.requests.length;
    await pollAll(3);
    expect(service.server.requests.length - before).toBe(6);
    expect(service.takeOpenMax()).toBe(1);
    service.follow((_request, response) => sendJson(response, 200, task));
    const answers = await pollAll(20);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(service.takeOpenMax()).toBeGreaterThan(2);
    for (const { reported } of daemons) expect(reported).toMatchObject([{ isUp: false }, { isUp: true }]);
  });

  it('after a 401 try one request at a time, until one is accepted', async () => {
    const { service, daemons, pollAll } = await twoDaemons();
    service.follow((_request, response) => sendJson(response, 401, { code: 'unauthorized' }));
    await daemons[0].fleet.pollTask('1');
    service.takeOpenMax();
    const openAtEachTry: number[] = [];
    service.follow((_request, response) => {
      openAtEachTry.push(service.takeOpenMax());
      return openAtEachTry.length > 1
        ? sendJson(response, 200, task, { 'set-cookie': 'session=new' })
        : sendJson(response, 401, {});
    });
    const answers = await pollAll(5);
    // Those after the one that was accepted are all at once.
    expect(openAtEachTry.slice(0, 2)).toEqual([1, 1]);
    expect(answers.filter(({ ok }) => ok).length).toBeGreaterThan(3);
    for (const { reported } of daemons) expect(reported).toEqual([]);
  });
});
