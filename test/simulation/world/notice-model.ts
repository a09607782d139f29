import { type AnnounceParts, announceDue } from '../../../src/orchestrator/notify/announce.ts';
import { deliverNext } from '../../../src/orchestrator/notify/deliver.ts';
import type { Outbox, SendNotice } from '../../../src/orchestrator/ports/notifications.ts';
import { noticeEvents } from '../../../src/rollout/model/notice.ts';
import type { Receiver } from '../../../src/rollout/model/receiver.ts';
import { makeChances } from '../chances.ts';
import type { NoticeJudge } from '../judge/judge-notices.ts';
import { InjectedFault, type Night } from '../night.ts';
import { plantInOutbox } from '../planted-bugs.ts';
import { makeOutboxModel } from './outbox-model.ts';
import type { ProcessModel } from './process-model.ts';

/** What announces and delivers in one daemon. */
export interface Announcer {
  readonly process: ProcessModel;
  readonly sink: AnnounceParts['sink'];
}

/** The outbox that all daemons share, and a desk that gets every message. */
export interface NoticeModel {
  /** A leader's pass, at most once in so many seconds. */
  announceBy(
    announcer: Announcer,
    parts: Omit<AnnounceParts, 'outbox' | 'queue' | 'receivers' | 'reportsOf'>,
  ): Promise<void>;
  /** The store lost everything. */
  forget(): void;
  /** @returns a function that restores the present state */
  keep(): () => void;
  /** Whether nothing waits, and a pass has begun since the last change. */
  isSettled(): boolean;
  /** Since when anything is announced. */
  since(): Promise<number>;
  /** Something of a rollout has changed. */
  changed(): void;
}

const desk: Receiver = {
  name: 'desk',
  events: noticeEvents,
  policies: ['*'],
  quiet: null,
  place: { kind: 'email', host: 'mail', port: 25, tls: 'none', login: null, from: 'upwave', to: ['desk'] },
};

// In truth it is two seconds, which finds nothing new in most of them.
const passEveryMs = 15_000;

// One job for each receiver; the job of a daemon that died is run by another after it has stalled.
const stalledAfterMs = 30_000;

export function makeNoticeModel(
  night: Night,
  judge: NoticeJudge,
  announcers: () => readonly Announcer[],
): NoticeModel {
  const { scheduler } = night;
  const chances = makeChances(night.setup.seed, 'notices');
  const outbox = makeOutboxModel();
  const never = new AbortController().signal;
  let waiting = false;
  let changedAt = scheduler.now();
  let begunAt = Number.NEGATIVE_INFINITY;
  /** When the last whole pass began. */
  let passedAt = Number.NEGATIVE_INFINITY;
  let job: { readonly process: ProcessModel; readonly since: number } | undefined;

  /** The outbox as a daemon reaches it. */
  const reach = (process: ProcessModel): Outbox => {
    const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      await night.point(process);
      if (night.strikes('storeFails', chances)) throw new InjectedFault(`${name}: the store is away`);
      const births = night.storeInstances();
      const result = await work();
      await night.point(process);
      if (births !== night.storeInstances() || night.strikes('storeAnswerLost', chances))
        throw new InjectedFault(`${name}: the answer was lost`);
      return result;
    };
    const write: Outbox['write'] = async (of, mark, messages) => {
      const result = await outbox.write(of, mark, messages);
      if (result === 'stale') return result;
      for (const { notice } of messages) {
        night.trace(process.name, () => `announces ${notice.id}`);
        judge.announced(notice);
      }
      waiting ||= messages.length > 0;
      return result;
    };
    return {
      readAnnounced: (now) => call('readAnnounced', () => outbox.readAnnounced(now)),
      write: (of, mark, messages) => call('write', () => write(of, mark, messages)),
      forget: (ids) => call('forget', () => outbox.forget(ids)),
      read: (receiver) => call('read', () => outbox.read(receiver)),
      receivers: () => call('receivers', () => outbox.receivers()),
      remove: (each) => call('remove', () => outbox.remove(each)),
      // Without a point of the night: integration tests end daemons between sending and storing.
      readThread: (receiver, incident) => outbox.readThread(receiver, incident),
      saveThread: (receiver, incident, thread) => outbox.saveThread(receiver, incident, thread),
      readFailures: () => call('readFailures', () => outbox.readFailures()),
      saveFailure: (receiver, failure) => call('saveFailure', () => outbox.saveFailure(receiver, failure)),
    };
  };
  let threads = 0;
  const send: SendNotice = async (_receiver, notice, known) => {
    await job?.process.wait(chances.int(50, 3_000));
    if (night.strikes('noticeFails', chances)) return { kind: 'failed', reason: 'the desk is away' };
    const entry = (await outbox.read(desk.name)).find((each) => each.notice === notice)?.entry;
    // Meanwhile the store has lost it.
    threads += 1;
    const thread = known ?? { channel: desk.name, message: String(threads) };
    judge.posted(notice, thread.message);
    if (entry !== undefined) judge.received(notice, entry);
    return { kind: 'sent', ...(known === null && { thread }) };
  };
  const start = (at: number): void => {
    scheduler.at(at, () => {
      const isRunning = job?.process.isAlive() === true && scheduler.now() - job.since < stalledAfterMs;
      const by = chances.some(announcers());
      if (isRunning || by === undefined) return;
      const own = { process: by.process, since: scheduler.now() };
      job = own;
      const { clock } = by.process;
      void deliverNext(
        {
          outbox: plantInOutbox(night.plant, reach(by.process)),
          send,
          receivers: () => [desk],
          clock,
          sink: by.sink,
        },
        desk.name,
        never,
      )
        .catch((error: unknown) => {
          night.verdicts.thrown(`delivery in ${by.process.name}`, error);
          return { job: 'comeBack', at: clock.now() + 1_000 } as const;
        })
        .then((outcome) => {
          if (job !== own) return;
          job = undefined;
          if (outcome.job === 'end') waiting = false;
          else start(scheduler.now() + Math.max(1, outcome.at - clock.now()));
        });
    });
  };
  return {
    announceBy: async ({ process, sink }, parts) => {
      if (scheduler.now() - begunAt < passEveryMs) return;
      const isQuiet = passedAt > changedAt && !waiting;
      if (isQuiet && scheduler.now() - passedAt < 60 * passEveryMs) return;
      const at = scheduler.now();
      begunAt = at;
      try {
        await announceDue({
          ...parts,
          sink,
          outbox: plantInOutbox(night.plant, reach(process)),
          receivers: () => [desk],
          reportsOf: () => [],
          queue: { wake: async () => start(scheduler.now() + chances.int(1, 500)) },
        });
        passedAt = at;
        if (waiting) start(scheduler.now() + 1);
      } catch (error) {
        night.verdicts.thrown(`notifications in ${process.name}`, error);
      }
    },
    forget: () => {
      outbox.forgetAll();
      judge.forgotten();
      changedAt = scheduler.now();
    },
    keep: () => {
      const restore = outbox.keep();
      return () => {
        restore();
        judge.forgotten();
        waiting = true;
        changedAt = scheduler.now();
      };
    },
    since: async () => (await outbox.readAnnounced(scheduler.now())).since,
    isSettled: () => !waiting && passedAt > changedAt,
    changed: () => {
      changedAt = scheduler.now();
    },
  };
}
