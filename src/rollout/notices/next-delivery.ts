import { compilePatterns } from '../../base/text-pattern.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessCalendar } from '../calendar/calendar.ts';
import type { Notice } from '../model/notice.ts';
import type { Receiver } from '../model/receiver.ts';

/** The receivers of a notice. The end of an incident goes to those who got its beginning, because its event is the same. */
export function receiversOf(notice: Notice, receivers: readonly Receiver[]): readonly Receiver[] {
  return receivers.filter(
    ({ events, policies }) =>
      events.some((event) => event === notice.details.event) && compilePatterns(policies)(notice.policy),
  );
}

/** What to do next for a receiver. */
export type Delivery<Waiting> =
  | { readonly kind: 'send'; readonly waiting: Waiting }
  /** The message is too old to be useful. */
  | { readonly kind: 'expire'; readonly waiting: Waiting }
  | { readonly kind: 'rest'; readonly until: EpochMs }
  | { readonly kind: 'done' };

// A message that could not be delivered for a day is outdated.
const noticeKeptMs: DurationMs = 86_400_000;

/**
 * Chooses the next message for a receiver, oldest first. In quiet hours, incidents and their ends are sent at once, and
 * informational messages wait for the end of the quiet hours.
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

/** How long to wait before the next attempt, after this many failures in a row. */
export function retryAfterMs(failures: number): DurationMs {
  return Math.min(retryMaxMs, firstRetryMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
