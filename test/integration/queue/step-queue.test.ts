import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeStepQueue } from '../../../src/queue/bullmq-step-queue.ts';
import { makeQueueNames, stepJobId } from '../../../src/queue/queue-names.ts';
import { ending } from '../../support/ending.ts';
import { useRedis } from '../../support/redis/redis.ts';

const rolloutId = 'production-20260302-1';

describe('the step queue, which restores lost jobs (P11)', () => {
  const redis = useRedis();

  function aQueue() {
    const { client } = redis.connect();
    const names = makeQueueNames(randomUUID());
    const onError = (error: Error) => {
      throw error;
    };
    const queue = ending(makeStepQueue(client, names, onError));
    return { client, queue, key: (name: string) => `${names.prefix}:${names.steps}:${name}` };
  }

  it('adds one job for a collector, however often it is delivered', async () => {
    const { queue } = aQueue();
    await queue.deliver(rolloutId, [1, 2]);
    await queue.deliver(rolloutId, [1, 2]);
    await queue.bringForward(rolloutId, [1, 2]);
    expect((await queue.countJobs())['waiting']).toBe(2);
  });

  it('runs a job that waits for a later instant now, and leaves one in the queue alone', async () => {
    const { client, queue, key } = aQueue();
    await queue.deliver(rolloutId, [1, 2, 3]);
    for (const id of [1, 2]) {
      await client.lrem(key('wait'), 0, stepJobId(rolloutId, id));
      await client.zadd(key('delayed'), (Date.now() + 60_000) * 4_096, stepJobId(rolloutId, id));
    }
    expect(await queue.countJobs()).toMatchObject({ waiting: 1, delayed: 2 });
    await queue.bringForward(rolloutId, [1, 3]);
    expect(await queue.countJobs()).toMatchObject({ waiting: 2, delayed: 1 });
    await Promise.all([queue.bringForward(rolloutId, [2]), queue.bringForward(rolloutId, [2])]);
    expect(await queue.countJobs()).toMatchObject({ waiting: 3, delayed: 0 });
  });

  it('creates a lost job again', async () => {
    const { client, queue, key } = aQueue();
    await queue.deliver(rolloutId, [1]);
    await client.del(key('wait'), key(stepJobId(rolloutId, 1)));
    await queue.bringForward(rolloutId, [1]);
    expect((await queue.countJobs())['waiting']).toBe(1);
  });

  it('creates a job again that is in no list of the queue', async () => {
    const { client, queue, key } = aQueue();
    await queue.deliver(rolloutId, [1, 2]);
    await client.lrem(key('wait'), 0, stepJobId(rolloutId, 1));
    expect(await client.exists(key(stepJobId(rolloutId, 1)))).toBe(1);
    await queue.bringForward(rolloutId, [1, 2]);
    expect((await queue.countJobs())['waiting']).toBe(2);
  });
});
