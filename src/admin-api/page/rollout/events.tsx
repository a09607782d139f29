import { showCount } from '../../../base/singular-or-plural.ts';
import type { Course, RolloutEvent } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { Time } from '../parts/time.tsx';
import { toneOf } from '../parts/tones.tsx';

interface EventsProps {
  readonly rollout: string;
  readonly events: readonly RolloutEvent[];
  readonly counts: Course['eventCounts'];
}

/** What happened: how often each kind, and the latest. */
export function Events({ rollout, events, counts }: EventsProps) {
  if (events.length === 0) return <p class="quiet">Nothing happened yet.</p>;
  return (
    <>
      <ul class="tags" aria-label="Events by kind">
        {counts.map(({ event, count }) => (
          <li key={event}>
            {event} <b>{showCount(count)}</b>
          </li>
        ))}
      </ul>
      <ol class="events">
        {events.map((each, index) => (
          <EventRow
            key={`${each.at} ${each.event} ${each.collectorId ?? each.wave ?? ''} ${index}`}
            {...each}
            rollout={rollout}
          />
        ))}
      </ol>
    </>
  );
}

type EventRowProps = RolloutEvent & Pick<EventsProps, 'rollout'>;

function EventRow({ rollout, at, event, collectorId, collectorName, wave, reason, by }: EventRowProps) {
  return (
    <li>
      <Time at={at} hasSeconds />
      <span class={`name ${toneOf(event.split('.').at(-1) ?? '')}`}>{event}</span>
      <span class="what">
        {collectorId === undefined ? (
          <bdi>{wave ?? ''}</bdi>
        ) : (
          <a href={linkTo.collector(collectorId, { rollout })}>
            <bdi>{collectorName ?? collectorId}</bdi>
          </a>
        )}{' '}
        <span class="quiet">
          {reason}
          {by === 'daemon' ? '' : ` (by ${by})`}
        </span>
      </span>
    </li>
  );
}
