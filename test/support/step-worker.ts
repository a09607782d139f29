import { randomUUID } from 'node:crypto';
import type { StepOutcome } from '../../src/orchestrator/ports/leader.ts';
import { makeStepQueue, type StepJobData } from '../../src/queue/bullmq-step-queue.ts';
import { makeQueueNames } from '../../src/queue/queue-names.ts';
import { startTurnWorker } from '../../src/queue/turn-worker.ts';
import type { RedisConnection } from '../../src/redis/connection/connection.ts';

type Client = RedisConnection['client'];

/** A queue and its worker on one Redis, with the errors that they met. It ends with the test, unless it is closed before. */
export function aStepWorker(
  clients: { readonly ofWorker: Client; readonly ofQueue: Client },
  runStep: (job: StepJobData) => Promise<StepOutcome>,
  onTestFinished: (work: () => Promise<void>) => void,
) {
  const names = makeQueueNames(randomUUID());
  const errors: string[] = [];
  const onError = (error: Error) => errors.push(error.message);
  const queue = makeStepQueue(clients.ofQueue, names, onError);
  const worker = startTurnWorker<StepJobData>({
    ...{ connection: clients.ofWorker, prefix: names.prefix, queue: names.steps, concurrency: 10 },
    mayRun: () => true,
    run: runStep,
    redeliver: queue.redeliver,
    onRunError: () => undefined,
    onError,
  });
  onTestFinished(async () => {
    await worker.close(0);
    await queue.close();
  });
  return { names, queue, worker, errors };
}
