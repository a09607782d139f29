import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../../src/orchestrator/ports/leader.ts';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { commandsOf } from '../../support/commands-of.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { aStepWorker } from '../../support/step-worker.ts';
import { until } from '../../support/until.ts';

const rolloutId = 'production-20260302-1';

// Asked again at once, a Redis answers thousands of times a second.
const commandsPerSecondMax = 60;

type AtEnd = (work: () => Promise<void>) => void;

// Concurrent, each with a Redis of its own, because the tests mostly wait for pauses.
describe
  .skipIf(redisServerCommand === undefined)
  .concurrent('the step worker, while Redis refuses writes', () => {
    async function aWorker(runStep: (collectorId: number) => Promise<StepOutcome>, onTestFinished: AtEnd) {
      const redis = await makeRedisProcess();
      await redis.start();
      onTestFinished(() => redis.close());
      const connection = makeRedisConnection({ url: redis.url, keyPrefix: 'x' }, 'worker');
      onTestFinished(() => connection.close());
      const { client } = connection;
      const ofBoth = { ofWorker: client, ofQueue: client };
      const { queue, worker, errors } = aStepWorker(
        ofBoth,
        ({ collectorId }) => runStep(collectorId),
        onTestFinished,
      );
      return { redis, client, queue, worker, refusals: errors };
    }

    it('pauses between two attempts, and continues when Redis accepts writes again (P11)', async (test) => {
      let runs = 0;
      const { redis, client, queue, refusals } = await aWorker(async () => {
        runs += 1;
        return { job: 'comeBack', at: Date.now() + 20 };
      }, test.onTestFinished);
      await queue.deliver(rolloutId, [1, 2, 3]);
      await until('the first steps', () => runs > 10);
      await redis.ask('CONFIG SET maxmemory 1');
      await until('a refusal', () => refusals.length > 0);
      const commandsBefore = await commandsOf(client);
      const since = performance.now();
      await until('three more', () => refusals.length > 3);
      const perSecond = ((await commandsOf(client)) - commandsBefore) / ((performance.now() - since) / 1_000);
      expect(refusals.every((text) => text.startsWith('OOM'))).toBe(true);
      expect(perSecond).toBeLessThan(commandsPerSecondMax);

      const before = runs;
      await redis.ask('CONFIG SET maxmemory 0');
      await until('the next steps', () => runs > before + 10);
    });

    it('lets a running step end, and returns its job to the queue once', async (test) => {
      let release: (outcome: StepOutcome) => void = () => undefined;
      let runs = 0;
      const { redis, queue, refusals } = await aWorker(async (collectorId) => {
        if (collectorId === 2) return { job: 'end' };
        runs += 1;
        if (runs > 1) return { job: 'end' };
        return new Promise<StepOutcome>((resolve) => {
          release = resolve;
        });
      }, test.onTestFinished);
      await queue.deliver(rolloutId, [1]);
      await until('a step to run', () => runs === 1);
      await redis.ask('CONFIG SET maxmemory 1');
      await until('a refusal', () => refusals.length > 0);
      await redis.ask('CONFIG SET maxmemory 0');
      await queue.deliver(rolloutId, [2]);
      await until('another job to be done', async () => (await queue.countJobs())['waiting'] === 0);
      expect(runs).toBe(1);
      release({ job: 'comeBack', at: Date.now() });
      await until('it to come back', () => runs === 2);
      await until('an empty queue', async () => {
        const jobs = await queue.countJobs();
        return Object.values(jobs).every((count) => count === 0);
      });
    });

    it('closes while it pauses', async (test) => {
      const { redis, queue, worker, refusals } = await aWorker(
        async () => ({ job: 'end' }),
        test.onTestFinished,
      );
      await queue.deliver(rolloutId, [1]);
      await until('an empty queue', async () => (await queue.countJobs())['waiting'] === 0);
      await redis.ask('CONFIG SET maxmemory 1');
      await until('two refusals', () => refusals.length > 1);
      await worker.close(0);
      const reported = refusals.length;
      await redis.ask('CONFIG SET maxmemory 0');
      await queue.deliver(rolloutId, [2]);
      expect((await queue.countJobs())['waiting']).toBe(1);
      expect(refusals.length).toBe(reported);
    });
  });
