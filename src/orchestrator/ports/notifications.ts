import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Notice } from '../../rollout/model/notice.ts';
import type { Receiver } from '../../rollout/model/receiver.ts';
import type { AnnouncedRollout } from '../../rollout/notices/due-notices.ts';
import type { AnnouncedPolicy } from '../../rollout/notices/due-of-policy.ts';

/** What was announced for each rollout and policy. `mark` is the revision of this data: a write based on it names it. */
export interface Remembered<State> {
  readonly announced: State;
  readonly mark: string;
}

export interface Announced {
  /** Since when this installation sends notifications. */
  readonly since: EpochMs;
  /** By rollout id. */
  readonly rollouts: ReadonlyMap<string, Remembered<AnnouncedRollout>>;
  /** By policy name. */
  readonly policies: ReadonlyMap<string, Remembered<AnnouncedPolicy>>;
}

export type AnnouncedOf =
  | { readonly rollout: string; readonly announced: AnnouncedRollout }
  | { readonly policy: string; readonly announced: AnnouncedPolicy };

/** A message that waits for its receiver. */
export interface WaitingNotice {
  readonly notice: Notice;
  /** Its id in the store. */
  readonly entry: string;
}

/** The first message of an incident in a chat, to which the others are added. */
export interface NoticeThread {
  readonly channel: string;
  readonly message: string;
}

/** Why and since when a receiver fails. */
export interface ReceiverFailure {
  /** Failures in a row. */
  readonly failures: number;
  readonly since: EpochMs;
  readonly reason: string;
  readonly retryAt: EpochMs;
}

/** The outbox: messages wait here for their receivers, in the order of writing. */
export interface Outbox {
  readAnnounced(now: EpochMs): Promise<Announced>;
  /**
   * Writes messages and the record of their announcement, in one step.
   * @param mark the mark of the earlier record; null if there is none
   * @returns `stale` if another daemon was faster, and nothing was written; else how many messages were dropped for lack of room
   */
  write(
    announcement: AnnouncedOf,
    mark: string | null,
    messages: ReadonlyArray<{ readonly receiver: string; readonly notice: Notice }>,
  ): Promise<'stale' | { readonly pushedOut: number }>;
  /** Deletes the announcements of rollouts that ended long ago. */
  forget(rolloutIds: readonly string[]): Promise<void>;
  read(receiver: string): Promise<readonly WaitingNotice[]>;
  /** Names of receivers with waiting messages. */
  receivers(): Promise<ReadonlySet<string>>;
  remove(waiting: WaitingNotice): Promise<void>;
  /** Failures by receiver. */
  readFailures(): Promise<ReadonlyMap<string, ReceiverFailure>>;
  /** @returns null where no message of the incident is known, or its record expired */
  readThread(receiver: string, incident: string): Promise<NoticeThread | null>;
  saveThread(receiver: string, incident: string, thread: NoticeThread): Promise<void>;
  /** @param failure null: the receiver works again */
  saveFailure(receiver: string, failure: ReceiverFailure | null): Promise<void>;
}

/** Wakes the delivery to receivers. A lost or duplicate call is harmless, because the outbox is authoritative. */
export interface NoticeQueue {
  wake(receivers: readonly string[]): Promise<void>;
}

/** The result of sending one message. No reason contains a secret (P12). */
export type SendResult =
  /** `thread`: the message began it; absent for a message in a known thread, and where a chat has no threads. */
  | { readonly kind: 'sent'; readonly thread?: NoticeThread }
  /** A retry may succeed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: DurationMs }
  /** No retry of this message can succeed. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Sends one message to one receiver, within a bounded time.
 * @param thread of the message's incident; null: none is known
 */
export type SendNotice = (
  receiver: Receiver,
  notice: Notice,
  thread: NoticeThread | null,
  signal: AbortSignal,
) => Promise<SendResult>;
