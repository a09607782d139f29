import type { Accounts } from '../../src/orchestrator/ports/accounts.ts';
import { startedAt } from './builders.ts';

const own = async () => ({ kind: 'own' }) as const;

/** Every rollout belongs to this account. */
const ownAccounts: Accounts = {
  mark: async () => ({ origin: 'https://api.example', accessIdHash: 'a1' }),
  statusOf: own,
  settle: own,
  foreign: () => [],
  forgetEnded: async () => undefined,
};

/** All daemons agree. No config is newer than the records. */
const agreedConfigs = {
  beat: async () => undefined,
  check: async () => ({ kind: 'agreed', others: 0 }) as const,
  statuses: () => new Map(),
  settings: () => undefined,
  versionOf: () => undefined,
  living: () => ({ account: '', others: [] }),
};

/** What views are read with, beside the store: rollouts of this account, whose creates leave. */
export const quietView = { accounts: ownAccounts, createsWait: () => undefined };

/** Parts of a loop that most tests do not observe: events are dropped, sleeps end at once, chance is fixed. */
export const quietParts = {
  ...quietView,
  clock: { now: () => startedAt },
  sink: { report: () => undefined, note: () => undefined },
  wakeUps: { wake: () => undefined },
  sleep: async () => undefined,
  answerWithinMs: 35_000,
  random: () => 0.5,
  policies: () => ['production'],
  claims: { names: async () => ['production', 'other'], isMissing: (_policy: string) => false },
  trustedSince: () => 0,
  beginIntent: () => async () => true,
  isClockRight: () => true,
  configs: agreedConfigs,
  followsSchedule: true,
  compareClocks: async () => true,
  sharedAttributes: {
    of: async () => undefined,
    ofCauses: async () => undefined,
    ofCollector: async () => [],
    tableOf: async () => undefined,
  },
  installation: undefined,
  accountName: undefined,
  buildHistory: {
    recorded: async () => new Map<string, number>(),
    record: async () => undefined,
    read: async () => [],
  },
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
