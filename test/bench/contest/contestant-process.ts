import { answerParent, startChild } from '../processes/child-process.ts';
import type { ContestantBrief, ContestantName, MeasuredPerformance, Rival } from './contestant.ts';
import { runUpwave } from './upwave.ts';

// Loaded when needed, so that no contestant's memory has another's modules in it.
const rivals: Readonly<Record<Exclude<ContestantName, 'upwave'>, () => Promise<Rival>>> = {
  plainPool: async () => (await import('./rivals/plain-pool.ts')).runPlainPool,
  fixedBatch: async () => (await import('./rivals/fixed-batch.ts')).runFixedBatch,
};

/** Runs one contestant in a process of its own. */
export async function runContestant(brief: ContestantBrief): Promise<MeasuredPerformance> {
  if (brief.name === 'upwave') return runUpwave(brief);
  const child = startChild(new URL(import.meta.url));
  try {
    return await child.ask<MeasuredPerformance>(brief);
  } finally {
    await child.stop();
  }
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  answerParent<ContestantBrief>(async (brief) => {
    if (brief.name === 'upwave') throw new Error('upwave is a daemon and no child of ours');
    const run = await rivals[brief.name]();
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
