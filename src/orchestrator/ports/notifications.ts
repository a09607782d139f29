import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Notice } from '../../rollout/model/notice.ts';
import type { Receiver } from '../../rollout/model/receiver.ts';
import type { AnnouncedRollout } from '../../rollout/notices/due-notices.ts';
import type { AnnouncedPolicy } from '../../rollout/notices/due-of-policy.ts';

/** What was announced of a rollout or a policy. `mark` names this very memory: a write that follows it names it. */
export interface Remembered<State> {
  readonly announced: State;
  readonly mark: string;
}

export interface Announced {
  /** Since when this installation announces. */
  readonly since: EpochMs;
  /** By id. */
  readonly rollouts: ReadonlyMap<string, Remembered<AnnouncedRollout>>;
  /** By name. */
  readonly policies: ReadonlyMap<string, Remembered<AnnouncedPolicy>>;
}

export type AnnouncedOf =
  | { readonly rollout: string; readonly announced: AnnouncedRollout }
  | { readonly policy: string; readonly announced: AnnouncedPolicy };

/** A message that waits for its receiver. */
export interface WaitingNotice {
  readonly notice: Notice;
  /** How the store knows it. */
  readonly entry: string;
}

/** Why and since when a receiver takes no messages. */
export interface ReceiverFailure {
  /** In a row. */
  readonly failures: number;
  readonly since: EpochMs;
  readonly reason: string;
  readonly retryAt: EpochMs;
}

/** Where messages wait for their receivers, in the order in which they were written. */
export interface Outbox {
  readAnnounced(now: EpochMs): Promise<Announced>;
  /**
   * Writes messages and what was announced with them, in one step.
   * @param mark of what was announced before; null: nothing
   * @returns `stale`: another daemon was faster, and nothing was written; else how many messages had to go for lack of room
   */
  write(
    of: AnnouncedOf,
    mark: string | null,
    messages: ReadonlyArray<{ readonly receiver: string; readonly notice: Notice }>,
  ): Promise<'stale' | { readonly pushedOut: number }>;
  /** Forgets what was announced of rollouts that are long over. */
  forget(rolloutIds: readonly string[]): Promise<void>;
  read(receiver: string): Promise<readonly WaitingNotice[]>;
  /** Names of those for whom something waits. */
  receivers(): Promise<ReadonlySet<string>>;
  remove(waiting: WaitingNotice): Promise<void>;
  /** By receiver. */
  readFailures(): Promise<ReadonlyMap<string, ReceiverFailure>>;
  /** @param failure null: it takes messages again */
  saveFailure(receiver: string, failure: ReceiverFailure | null): Promise<void>;
}

/** Wakes the delivery to receivers. Losing or doubling a call is harmless: the outbox is the truth. */
export interface NoticeQueue {
  wake(receivers: readonly string[]): Promise<void>;
}

/** What came of sending one message. No reason holds a secret (P12). */
export type SendResult =
  | { readonly kind: 'sent' }
  /** It may work later. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: DurationMs }
  /** This message never will. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends one message to one receiver, within a bounded time. */
export type SendNotice = (receiver: Receiver, notice: Notice, signal: AbortSignal) => Promise<SendResult>;
