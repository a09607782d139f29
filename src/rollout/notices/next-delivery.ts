import { compilePatterns } from '../../base/text-pattern.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessCalendar } from '../calendar/calendar.ts';
import type { Notice } from '../model/notice.ts';
import type { Receiver } from '../model/receiver.ts';

/** Those who are announced of it. Who hears that an incident began hears that it is over. */
export function receiversOf(notice: Notice, receivers: readonly Receiver[]): readonly Receiver[] {
  return receivers.filter(
    ({ events, policies }) =>
      events.some((event) => event === notice.news.event) && compilePatterns(policies)(notice.policy),
  );
}

/** What a receiver's turn comes to. */
export type Delivery<Waiting> =
  | { readonly kind: 'send'; readonly waiting: Waiting }
  /** Nobody needs it any more. */
  | { readonly kind: 'expire'; readonly waiting: Waiting }
  | { readonly kind: 'rest'; readonly until: EpochMs }
  | { readonly kind: 'done' };

/** A receiver that takes nothing for a day is not worth telling what happened the day before. */
const noticeKeptMs: DurationMs = 86_400_000;

/**
 * The next message for a receiver, in the order in which they were written. In quiet hours what only informs waits, and is
 * sent at their end; what needs a person, and that it needs none any more, goes at once.
 */
export function nextDelivery<Waiting extends { readonly notice: Notice }>(
  waiting: readonly Waiting[],
  { quiet }: Pick<Receiver, 'quiet'>,
  now: EpochMs,
): Delivery<Waiting> {
  const quietUntil = quiet === null ? null : quietUntilOf(quiet, now);
  const old = waiting.find(({ notice }) => now - notice.at > noticeKeptMs);
  if (old !== undefined) return { kind: 'expire', waiting: old };
  const next = waiting.find(({ notice: { phase } }) => quietUntil === null || phase !== 'once');
  if (next !== undefined) return { kind: 'send', waiting: next };
  return quietUntil === null || waiting.length === 0 ? { kind: 'done' } : { kind: 'rest', until: quietUntil };
}

function quietUntilOf(quiet: NonNullable<Receiver['quiet']>, now: EpochMs): EpochMs | null {
  const { isOpen, until } = assessCalendar(
    { windows: [quiet], freezes: [], timeZone: quiet.timeZone },
    '',
    now,
  );
  return isOpen ? until : null;
}

const firstRetryMs: DurationMs = 2_000;
const retryMaxMs: DurationMs = 5 * 60_000;

/** How long a receiver rests after so many failures in a row. */
export function retryAfterMs(failures: number): DurationMs {
  return Math.min(retryMaxMs, firstRetryMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
