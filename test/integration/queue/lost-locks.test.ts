import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { invariant } from '../../../src/base/assert.ts';
import type { StepOutcome } from '../../../src/orchestrator/ports/leader.ts';
import type { StepJobData } from '../../../src/queue/bullmq-step-queue.ts';
import { stepJobId } from '../../../src/queue/queue-names.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { aStepWorker } from '../../support/step-worker.ts';
import { until } from '../../support/until.ts';

const rolloutId = 'production-20260302-1';

// BullMQ's own pause after a fetch that met a closed connection is 15 s; a machine with other work takes its time.
const backAtWorkWithinMs = 12_000;

describe('the step worker, after an outage of Redis (P11)', () => {
  const redis = useRedis();

  /** A worker whose steps wait until the test gives their outcome. */
  async function aWorker() {
    const { client } = redis.connect();
    const ours = redis.connect().client;
    const steps: Array<(outcome: StepOutcome) => void> = [];
    const { names, queue, errors } = aStepWorker(
      { ofWorker: client, ofQueue: ours },
      () => new Promise((resolve) => steps.push(resolve)),
      onTestFinished,
    );
    onTestFinished(() => {
      for (const end of steps) end({ job: 'end' });
    });
    const key = (name: string) => `${names.prefix}:${names.steps}:${name}`;
    const lockOf = ({ collectorId }: StepJobData) => key(`${stepJobId(rolloutId, collectorId)}:lock`);
    return { client, ours, queue, steps, errors, key, lockOf };
  }

  const job = { rolloutId, collectorId: 1 };

  it('retries a step whose lock expired, without the check for stalled jobs', async () => {
    const { ours, queue, steps, errors, key, lockOf } = await aWorker();
    await queue.deliver(rolloutId, [job.collectorId]);
    await until('the step to run', () => steps.length === 1);
    // BullMQ looks for stalled jobs when this has run out.
    await ours.set(key('stalled-check'), 'not in this test', 'PX', 600_000);
    await ours.del(lockOf(job));
    steps[0]?.({ job: 'comeBack', at: Date.now() });
    await until('it to run again', () => steps.length === 2);
    expect(await ours.exists(lockOf(job))).toBe(1);
    expect(errors).toEqual([]);
  });

  it('leaves a step alone that another worker has taken meanwhile', async () => {
    const { ours, queue, steps, errors, lockOf } = await aWorker();
    await queue.deliver(rolloutId, [job.collectorId]);
    await until('the step to run', () => steps.length === 1);
    await ours.set(lockOf(job), 'the other', 'PX', 600_000);
    steps[0]?.({ job: 'comeBack', at: Date.now() });
    await queue.deliver(rolloutId, [2]);
    await until('the next step', () => steps.length === 2);
    expect(await ours.get(lockOf(job))).toBe('the other');
    expect((await queue.countJobs())['active']).toBe(2);
    expect(errors).toEqual([]);
  });

  it('does not return a job to the queue twice, although the answer was lost', async () => {
    const { ours, queue, key } = await aWorker();
    const at = Date.now() + 600_000;
    await ours.hset(key(stepJobId(rolloutId, 1)), 'name', 'step', 'data', JSON.stringify(job), 'opts', '{}');
    await ours.zadd(key('delayed'), at * 4_096, stepJobId(rolloutId, 1));
    await queue.redeliver(job, Date.now());
    expect(await queue.countJobs()).toMatchObject({ waiting: 0, delayed: 1 });
  });

  it('takes jobs again soon after its connection closed during a fetch', async () => {
    const { client, queue, steps } = await aWorker();
    invariant(client instanceof Redis, 'tests have a single Redis');
    await queue.deliver(rolloutId, [1]);
    await until('the step to run', () => steps.length === 1);
    let refused = 0;
    const send = client.sendCommand.bind(client);
    client.sendCommand = (command, stream) => {
      if (client.status === 'end') refused += 1;
      return send(command, stream);
    };
    client.disconnect();
    await once(client, 'end');
    await until('a fetch that is refused', () => refused > 0);
    await client.connect();
    await queue.deliver(rolloutId, [2]);
    const since = performance.now();
    await until('the next step', () => steps.length === 2);
    expect(performance.now() - since).toBeLessThan(backAtWorkWithinMs);
  });
});
