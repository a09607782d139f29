import { answerParent, startChild } from './child-process.ts';
import type { Contestant, ContestantBrief, ContestantName, MeasuredPerformance } from './contestant.ts';
import { runFixedBatch } from './rivals/fixed-batch.ts';
import { runPlainPool } from './rivals/plain-pool.ts';
import { runUpwave } from './upwave.ts';

const contestants: Readonly<Record<ContestantName, Contestant>> = {
  upwave: runUpwave,
  plainPool: runPlainPool,
  fixedBatch: runFixedBatch,
};

/** Runs one contestant in a process of its own. */
export async function runContestant(brief: ContestantBrief): Promise<MeasuredPerformance> {
  const child = startChild(new URL(import.meta.url));
  try {
    return await child.ask<MeasuredPerformance>(brief);
  } finally {
    await child.stop();
  }
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  answerParent<ContestantBrief>(async (brief) => {
    const before = process.cpuUsage();
    const performance = await contestants[brief.name](brief);
    const { user, system } = process.cpuUsage(before);
    return {
      ...performance,
      cpuSeconds: (user + system) / 1e6,
      rssPeakBytes: process.resourceUsage().maxRSS * 1_024,
    } satisfies MeasuredPerformance;
  });
}
