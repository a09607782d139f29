import type {
  Announced,
  NoticeThread,
  Outbox,
  ReceiverFailure,
  WaitingNotice,
} from '../../../src/orchestrator/ports/notifications.ts';

interface Waiting extends WaitingNotice {
  readonly receiver: string;
}

interface Kept {
  readonly since: number | null;
  readonly rollouts: Announced['rollouts'];
  readonly policies: Announced['policies'];
  readonly waiting: readonly Waiting[];
  readonly failures: ReadonlyMap<string, ReceiverFailure>;
  /** By receiver and incident. */
  readonly threads: ReadonlyMap<string, NoticeThread>;
}

/** The outbox as Redis keeps it, in memory: one write is one step, and a write after another one is stale. */
export interface OutboxModel extends Outbox {
  forgetAll(): void;
  /** @returns a function that restores the present state */
  keep(): () => void;
}

const nothing: Kept = {
  since: null,
  rollouts: new Map(),
  policies: new Map(),
  waiting: [],
  failures: new Map(),
  threads: new Map(),
};

export function makeOutboxModel(): OutboxModel {
  let kept = nothing;
  let marks = 0;
  const changed = <State>(
    map: ReadonlyMap<string, { readonly announced: State; readonly mark: string }>,
    key: string,
    announced: State,
  ) => new Map(map).set(key, { announced, mark: String(marks) });
  return {
    readAnnounced: async (now) => {
      if (kept.since === null) kept = { ...kept, since: now };
      return { since: kept.since ?? now, rollouts: kept.rollouts, policies: kept.policies };
    },
    write: async (of, mark, messages) => {
      const before = 'rollout' in of ? kept.rollouts.get(of.rollout) : kept.policies.get(of.policy);
      if ((before?.mark ?? null) !== mark) return 'stale';
      marks += 1;
      const added = messages.map((message, index) => ({ ...message, entry: `${marks}/${index}` }));
      kept = {
        ...kept,
        ...('rollout' in of
          ? { rollouts: changed(kept.rollouts, of.rollout, of.announced) }
          : { policies: changed(kept.policies, of.policy, of.announced) }),
        waiting: [...kept.waiting, ...added],
      };
      return { pushedOut: 0 };
    },
    forget: async (rolloutIds) => {
      kept = { ...kept, rollouts: new Map([...kept.rollouts].filter(([id]) => !rolloutIds.includes(id))) };
    },
    read: async (receiver) => kept.waiting.filter((each) => each.receiver === receiver),
    receivers: async () => new Set(kept.waiting.map(({ receiver }) => receiver)),
    remove: async ({ entry }) => {
      kept = { ...kept, waiting: kept.waiting.filter((each) => each.entry !== entry) };
    },
    readThread: async (receiver, incident) => kept.threads.get(`${receiver} ${incident}`) ?? null,
    saveThread: async (receiver, incident, thread) => {
      kept = { ...kept, threads: new Map(kept.threads).set(`${receiver} ${incident}`, thread) };
    },
    readFailures: async () => kept.failures,
    saveFailure: async (receiver, failure) => {
      const failures = new Map(kept.failures);
      if (failure === null) failures.delete(receiver);
      else failures.set(receiver, failure);
      kept = { ...kept, failures };
    },
    forgetAll: () => {
      kept = nothing;
    },
    keep: () => {
      const now = kept;
      return () => {
        kept = now;
      };
    },
  };
}
