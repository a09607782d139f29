import { startedAt } from './builders.ts';

/** Parts of a loop that most tests do not observe: events are dropped, sleeps end at once, chance is fixed. */
export const quietParts = {
  clock: { now: () => startedAt },
  sink: { report: () => undefined, note: () => undefined },
  wakeUps: { wake: () => undefined },
  sleep: async () => undefined,
  answerWithinMs: 35_000,
  random: () => 0.5,
  policies: ['production'],
  claims: { names: async () => ['production', 'other'], isMissing: (_policy: string) => false },
  trustedSince: () => 0,
  beginIntent: () => async () => true,
  isClockRight: () => true,
  observations: { note: () => undefined, find: () => undefined },
};

/** The further parts of a leader: background tasks that run within the pass, and gates without an answer. */
export const quietLead = {
  requestsPerSecond: 1_000,
  backgroundTasks: {
    run: async (_key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
      await work(new AbortController().signal);
    },
  },
  gates: { ask: async () => ({ kind: 'error', detail: '' }) as const },
};
