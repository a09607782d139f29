import { serviceLimits } from '../../../../src/contract/collector-management/limits.ts';
import { preciseNow } from '../../processes/child-process.ts';
import type { EndSeen, Rival } from '../contestant.ts';
import { makeCourtesy, makeRivalClient } from './rival-client.ts';

const pollEveryMs = 30_000;

/** Keeps this many upgrades running, and polls each task every 30 seconds. It verifies no collector. */
export const runPlainPool: Rival = async (brief) => {
  const courtesy = makeCourtesy(serviceLimits.requestsPerSecond * brief.speed);
  const client = makeRivalClient(brief, courtesy);
  const waiting = [...(await client.listUpgradable())];
  const endsSeen: EndSeen[] = [];
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const taskId = await client.createTask(id);
      do await client.sleep(pollEveryMs);
      while (!(await client.hasEnded(taskId)));
      endsSeen.push({ collectorId: id, at: preciseNow() });
    }
  };
  await Promise.all(Array.from({ length: Math.min(brief.slots, waiting.length) }, work));
  return { endsSeen, doneAt: preciseNow(), complaints: [] };
};
