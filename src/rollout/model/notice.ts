import type { EpochMs } from '../../base/time.ts';
import type { HeadlineKind, RolloutVerb } from '../../base/vocabulary.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import type { RolloutState } from './rollout.ts';

/** The events of notifications, by their names in the config. */
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

/** The events that need a person, and the end of a rollout. */
export const usualNoticeEvents = noticeEvents.filter(
  (event) => event !== 'started' && event !== 'wavePassed',
);

/** An incident that needs a person until it ends. `messages/notices.ts` makes the sentences. */
export type IncidentDetails =
  /** `wave`: null for the plan. */
  | { readonly event: 'approvalNeeded'; readonly wave: string | null }
  /**
   * `headline`: why it needs a person; absent in a record of an older version. `startNeeded`: a policy without a rollout, which
   * only an operator starts again.
   */
  | { readonly event: 'held'; readonly reason: string; readonly headline?: HeadlineKind | 'startNeeded' }
  | {
      readonly event: 'stratumHeld';
      readonly label: string;
      readonly reason: string;
      /** Its collectors that wait for the release. */
      readonly waiting: number;
      /** Further strata that this incident covers; absent: none. */
      readonly others?: number;
    }
  | { readonly event: 'noProgress'; readonly since: EpochMs }
  | { readonly event: 'discoveryFailing'; readonly since: EpochMs; readonly reason: string };

/** An event that opens no incident. */
export type OnceDetails =
  | { readonly event: 'started'; readonly startedBy: string; readonly waves: number }
  /** `next`: the wave after it; null: it was the last one. */
  | { readonly event: 'wavePassed'; readonly wave: string; readonly next: string | null }
  | {
      readonly event: 'finished';
      readonly state: RolloutState;
      readonly reason: string;
      /** Paths of its report; absent without a report. */
      readonly reports?: readonly string[];
      /** Collectors that a rollback left on their build; absent: none, or an older version wrote the record. */
      readonly left?: {
        readonly build: string;
        readonly by: ReadonlyArray<{ readonly count: number; readonly reason: string }>;
      };
    }
  /** A test message. */
  | { readonly event: 'test' };

/** The figures of the rollout at that time. */
export interface NoticeFigures {
  readonly rollout: string;
  readonly kind: 'upgrade' | 'rollback';
  readonly targetBuild: string;
  readonly planned: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Absent: none, or an older version wrote the record. */
  readonly withdrawn?: number;
  /** Back on their former build; absent: none, or an older version wrote the record. */
  readonly rolledBack?: number;
  readonly inFlight: number;
  /** Neither ended nor in flight. */
  readonly remaining: number;
  /** The most frequent causes of failures. */
  readonly causes: ReadonlyArray<{ readonly text: string; readonly count: number }>;
  /** Failures with other causes; absent: none, or an older version wrote the record. */
  readonly otherFailures?: number;
  /** The shared attribute of the failures; absent if none is known. */
  readonly shared?: SharedAttribute;
}

/** What a person can do now, as a dialog of the page. `subject`: what is held or released, or the policy to start. */
export type NoticeAction =
  | { readonly verb: RolloutVerb }
  | { readonly verb: 'hold' | 'release' | 'start'; readonly subject: string };

/** One notification as data. */
export type Notice = {
  /** Unique: nothing is announced twice under one id. */
  readonly id: string;
  /** Shared by the notice that raises an incident and the one that closes it. */
  readonly incident: string;
  readonly at: EpochMs;
  readonly policy: string;
  /** null: it is about a policy. */
  readonly figures: NoticeFigures | null;
  /** Commands that a person can type now, the usual one first. */
  readonly commands: readonly string[];
  /** The same as dialogs of the page; absent: none, or an older version wrote the record. */
  readonly actions?: readonly NoticeAction[];
} & (
  | { readonly phase: 'once'; readonly details: OnceDetails }
  | { readonly phase: 'raised'; readonly details: IncidentDetails }
  /** `raisedAt`: when the incident was announced; absent in a record of an older version. */
  | {
      readonly phase: 'over';
      readonly details: IncidentDetails;
      readonly raisedAt?: EpochMs;
      /** The state of the rollout, where that ended the incident without solving it; absent where it continues. */
      readonly ending?: { readonly state: RolloutState; readonly reason: string };
      /** The held group that has the failed collectors of the stratum now; absent: none has. */
      readonly heldAs?: {
        readonly label: string;
        readonly by: string;
        /** Collectors of the stratum that wait to start, and are not in the group. */
        readonly remaining: number;
      };
      /** Why a held rollout continues, with who resumed it; absent in a record of an older version. */
      readonly continues?: string;
    }
);

/** Whether a person has to act on it. A held stratum in which no collector waits needs nobody. */
export function needsPersonNow({ phase, details }: Pick<Notice, 'phase' | 'details'>): boolean {
  return phase === 'raised' && !(details.event === 'stratumHeld' && details.waiting === 0);
}
