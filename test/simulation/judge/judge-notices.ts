import type { Notice } from '../../../src/rollout/model/notice.ts';
import type { SeenRollout, SeenRollouts } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

/** Judges notifications: each is announced once and received in order, and at the end none is missing. */
export interface NoticeJudge {
  /** The outbox has stored it. */
  announced(notice: Notice): void;
  /**
   * The receiver has got it.
   * @param entry of the outbox; a crash before its removal brings the same one again
   */
  received(notice: Notice, entry: string): void;
  /** It stands in this thread of a chat, also where the store has it no more: a daemon that stalled sends it again. */
  posted(notice: Notice, thread: string): void;
  /** The outbox lost what was written last, or all: that may be announced again. */
  forgotten(): void;
  /**
   * No notification waits any more, and a leader has looked since the last change.
   * @param isTold whether a leader announces this rollout
   */
  atRest(isTold: (of: SeenRollout) => boolean): void;
}

export function makeNoticeJudge({
  verdicts,
  seen,
}: {
  readonly verdicts: Verdicts;
  readonly seen: Pick<SeenRollouts, 'all'>;
}): NoticeJudge {
  let ids = new Set<string>();
  let raised = new Set<string>();
  let forgets = 0;
  const received = new Map<string, { readonly entry: string; readonly forgets: number }>();
  let last = { at: Number.NEGATIVE_INFINITY, index: 0, forgets: 0 };
  /** Threads in which the beginning of an incident stands. */
  let begun = new Map<string, ReadonlySet<string>>();
  /** The last word of each incident that arrived, and each single notice. */
  const arrived = new Map<string, Notice['phase']>();
  const check = (holds: boolean, words: string) => verdicts.check('notices', holds, words);
  return {
    announced: ({ id, incident, phase }) => {
      check(!ids.has(id), `${id} was announced twice`);
      ids.add(id);
      if (phase === 'raised') {
        check(!raised.has(incident), `${incident} was raised while it was open`);
        raised.add(incident);
      } else if (phase === 'over') {
        check(raised.delete(incident) || forgets > 0, `${incident} is over and was not raised`);
      }
    },
    posted: ({ id, incident, phase }, thread) => {
      const threads = begun.get(incident) ?? new Set();
      if (phase === 'raised') begun.set(incident, new Set([...threads, thread]));
      else
        check(threads.size === 0 || threads.has(thread), `${id} stands in another thread than its beginning`);
    },
    received: ({ id, incident, phase }, entry) => {
      const before = received.get(id);
      check(
        before === undefined || before.entry === entry || before.forgets < forgets,
        `${id} was received as two messages`,
      );
      received.set(id, { entry, forgets });
      const [at = 0, index = 0] = entry.split('/').map(Number);
      // One that comes again is known to its receiver, wherever it stands.
      check(
        before !== undefined ||
          last.forgets < forgets ||
          at > last.at ||
          (at === last.at && index >= last.index),
        `${id} was received after a later one`,
      );
      last = { at, index, forgets };
      arrived.set(incident, phase);
    },
    forgotten: () => {
      ids = new Set();
      raised = new Set();
      begun = new Map();
      forgets += 1;
    },
    atRest: (isTold) => {
      for (const of of seen.all.values()) {
        const { rollout } = of;
        if (!isTold(of)) continue;
        if (rollout.endedAt !== null)
          check(
            arrived.has(`${rollout.id}/finished/${rollout.endedAt}`),
            `nobody was told of the end of ${rollout.id}`,
          );
        if (rollout.state !== 'held' || rollout.endedAt !== null) continue;
        // A leader of another account tells why the rollout waits for it.
        const open = [...arrived].some(
          ([incident, phase]) =>
            phase === 'raised' &&
            ['held', 'otherAccount'].some((why) => incident.startsWith(`${rollout.id}/${why}/`)),
        );
        check(open, `nobody was told that ${rollout.id} is held`);
      }
    },
  };
}
