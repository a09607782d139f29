import type { ComponentProps } from 'preact';
import { Linked } from './linked.tsx';

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Charts write instants in the viewer's time zone. */
export const viewersZone = {
  zone: ownZone,
  localOf: (at: number) => at - new Date(at).getTimezoneOffset() * 60_000,
};

/** The time of day, with the day where that is not today. */
export function timeText(at: number, timeZone: string = ownZone, hasSeconds = false): string {
  const day = (instant: number) =>
    new Date(instant).toLocaleDateString('en', { timeZone, year: 'numeric', month: 'short', day: 'numeric' });
  const time = new Date(at).toLocaleTimeString('en', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
    hourCycle: 'h23',
  });
  if (day(at) === day(Date.now())) return time;
  return `${new Date(at).toLocaleDateString('en', { timeZone, month: 'short', day: 'numeric' })} ${time}`;
}

const shortZone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' });

/** The viewer's time zone at an instant: `UTC`, `GMT+2`. */
function zoneText(at: number): string {
  return shortZone.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** The time of day with its zone, for sentences. */
export function clockText(at: number, hasSeconds = false): string {
  return `${timeText(at, ownZone, hasSeconds)} ${zoneText(at)}`;
}

/**
 * An instant in the viewer's time zone, and also in the given zone of the policy where the two differ.
 * The tooltip has the exact instant.
 * @param hasSeconds where the order of instants matters, as of events
 */
export function Time({
  at,
  zone,
  hasSeconds = false,
}: {
  readonly at: number;
  readonly zone?: string | undefined;
  readonly hasSeconds?: boolean;
}) {
  const own = timeText(at, ownZone, hasSeconds);
  const there = zone === undefined ? own : timeText(at, zone, hasSeconds);
  const iso = new Date(at).toISOString();
  return (
    <>
      <time dateTime={iso} title={`${iso} (shown in ${ownZone})`}>
        {own} <small>{zoneText(at)}</small>
      </time>
      {there === own ? '' : ` (${there} ${zone?.split('/').at(-1)?.replaceAll('_', ' ') ?? ''})`}
    </>
  );
}

/** An instant behind the words that lead to it; nothing where there is none. */
export function TimeAfter({
  words,
  at,
  ...form
}: Omit<ComponentProps<typeof Time>, 'at'> & { readonly words: string; readonly at: number | null }) {
  if (at === null) return null;
  return (
    <>
      {words}
      <Time at={at} {...form} />
    </>
  );
}

interface ByWhomProps {
  readonly by: string;
  readonly at: number;
  readonly reason: string;
}

/** Who holds something, since when, and why: `by alice since 21:15: broken disk`. */
export function ByWhom({ by, at, reason }: ByWhomProps) {
  return (
    <>
      <span class="quiet">
        by <bdi>{by}</bdi> since <Time at={at} />
      </span>
      {reason === '' ? null : (
        <>
          : <Linked text={reason} />
        </>
      )}
    </>
  );
}
