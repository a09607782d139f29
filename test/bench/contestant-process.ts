import { answerParent, startChild } from './child-process.ts';
import type { Contestant, ContestantBrief, ContestantName, MeasuredPerformance } from './contestant.ts';

// Loaded when needed, so that no contestant's memory has another's modules in it.
const contestants: Readonly<Record<ContestantName, () => Promise<Contestant>>> = {
  upwave: async () => (await import('./upwave.ts')).runUpwave,
  plainPool: async () => (await import('./rivals/plain-pool.ts')).runPlainPool,
  fixedBatch: async () => (await import('./rivals/fixed-batch.ts')).runFixedBatch,
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
    const run = await contestants[brief.name]();
    const before = process.cpuUsage();
    const performance = await run(brief);
    const { user, system } = process.cpuUsage(before);
    return {
      ...performance,
      cpuSeconds: (user + system) / 1e6,
      rssPeakBytes: process.resourceUsage().maxRSS * 1_024,
    } satisfies MeasuredPerformance;
  });
}
