import { startedAt } from './builders.ts';

/** Of the parts of a loop, those that most tests only need to be there: nobody listens, nothing takes time or chance. */
export const quietParts = {
  clock: { now: () => startedAt },
  sink: { report: () => undefined, note: () => undefined },
  wakeUps: { wake: () => undefined },
  sleep: async () => undefined,
  answerWithinMs: 35_000,
  random: () => 0.5,
  policies: ['production'],
  observations: { note: () => undefined, find: () => undefined },
};

/** What a leader has more: background tasks that are over when its pass is, and gates that give no answer. */
export const quietLead = {
  backgroundTasks: {
    run: async (_key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>) => {
      await work(new AbortController().signal);
    },
  },
  gates: { ask: async () => ({ kind: 'error', detail: '' }) as const },
};
