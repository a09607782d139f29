import { preciseNow } from '../../processes/child-process.ts';
import type { EndSeen, Rival } from '../contestant.ts';
import { makeRivalClient } from './rival-client.ts';

const batchMax = 100;
const betweenCallsMs = 200;
const pollEveryMs = 10_000;

/**
 * What people script today: one call after another with 0.2 s between them, all tasks of a batch polled in turn every
 * 10 seconds, and the next batch when the last task of this one has ended. The pauses are all its rate limiter.
 */
export const runFixedBatch: Rival = async (brief) => {
  const client = makeRivalClient(brief, (send) => send());
  const waiting = [...(await client.listUpgradable())];
  const endsSeen: EndSeen[] = [];
  while (waiting.length > 0) {
    let running: Array<{ readonly collectorId: number; readonly taskId: string }> = [];
    for (const collectorId of waiting.splice(0, Math.min(brief.slots, batchMax))) {
      running.push({ collectorId, taskId: await client.createTask(collectorId) });
      await client.sleep(betweenCallsMs);
    }
    while (running.length > 0) {
      await client.sleep(pollEveryMs);
      const still: typeof running = [];
      for (const task of running) {
        if (await client.hasEnded(task.taskId))
          endsSeen.push({ collectorId: task.collectorId, at: preciseNow() });
        else still.push(task);
        await client.sleep(betweenCallsMs);
      }
      running = still;
    }
  }
  return { endsSeen, doneAt: preciseNow(), complaints: [] };
};
