import type { EpochMs } from '../../base/time.ts';
import type { SharedAttribute } from './attributes.ts';
import type { RolloutState } from './rollout.ts';

/** What a notification can be about, in the words of the config. */
export const noticeEvents = [
  'started',
  'wavePassed',
  'approvalNeeded',
  'held',
  'stratumHeld',
  'finished',
  'noProgress',
  'discoveryFailing',
] as const;
export type NoticeEvent = (typeof noticeEvents)[number];

/** What needs a person, and the end of a rollout. */
export const usualNoticeEvents = noticeEvents.filter(
  (event) => event !== 'started' && event !== 'wavePassed',
);

/** Something that needs a person until it is over. `messages/notices.ts` makes the sentences. */
export type IncidentNews =
  /** `wave`: null for the plan. */
  | { readonly event: 'approvalNeeded'; readonly wave: string | null }
  | { readonly event: 'held'; readonly reason: string }
  | {
      readonly event: 'stratumHeld';
      readonly label: string;
      readonly reason: string;
      /** Its collectors that wait until it is released. */
      readonly waiting: number;
      /** Further strata which this incident stands for; absent: none. */
      readonly others?: number;
    }
  | { readonly event: 'noProgress'; readonly since: EpochMs }
  | { readonly event: 'discoveryFailing'; readonly since: EpochMs; readonly reason: string };

/** Something that happened, and leaves nothing open. */
export type OnceNews =
  | { readonly event: 'started'; readonly startedBy: string; readonly waves: number }
  /** `next`: the wave after it; null: it was the last one. */
  | { readonly event: 'wavePassed'; readonly wave: string; readonly next: string | null }
  | {
      readonly event: 'finished';
      readonly state: RolloutState;
      readonly reason: string;
      /** Paths of its report; absent where none is kept, and in notices of earlier versions. */
      readonly reports?: readonly string[];
    }
  /** A person tries whether a receiver gets messages. */
  | { readonly event: 'test' };

/** How the rollout of a notice stood. */
export interface NoticeFigures {
  readonly rollout: string;
  readonly kind: 'upgrade' | 'rollback';
  readonly targetBuild: string;
  readonly planned: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly remaining: number;
  /** The most frequent causes of failures. */
  readonly causes: ReadonlyArray<{ readonly text: string; readonly count: number }>;
  /** What the failures have in common; absent in notices of earlier versions, and where nothing is known. */
  readonly shared?: SharedAttribute;
}

/** One notification, before anyone has words for it. */
export type Notice = {
  /** Unique: nothing is announced twice under one id. */
  readonly id: string;
  /** Shared by the notice that raises an incident and the one that closes it. */
  readonly incident: string;
  readonly at: EpochMs;
  readonly policy: string;
  /** null: it is about a policy. */
  readonly figures: NoticeFigures | null;
  /** What a person can type now, the usual first. */
  readonly commands: readonly string[];
} & (
  | { readonly phase: 'once'; readonly news: OnceNews }
  | { readonly phase: 'raised' | 'over'; readonly news: IncidentNews }
);
