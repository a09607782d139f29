import type { Course, Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';

type Stratum = Course['strata'][number];

/** Every stratum as a tile: the redder, the larger its share of failures. */
export function StrataMap({ rollout, course }: { rollout: Rollout; course: Course }) {
  const { strata, strataTotal } = course;
  if (strata.length < 2) return null;
  return (
    <section class="card" aria-labelledby="strata">
      <h2 id="strata">Strata</h2>
      <ul class="heat">
        {strata.map((each) => (
          <li key={each.label} class={heatOf(each)}>
            <a href={linkTo.collectors(rollout.id, { stratum: each.label })}>{each.label}</a>
            <span>
              <b>{each.succeeded}</b> of {each.size}
              {each.failed > 0 ? (
                <>
                  , <b>{each.failed} failed</b>
                </>
              ) : null}
              {each.isHeld ? ', held' : ''}
            </span>
          </li>
        ))}
      </ul>
      {strataTotal > strata.length ? (
        <p class="quiet small">{strataTotal - strata.length} more strata</p>
      ) : null}
    </section>
  );
}

/** By the share of failures among those that ended; no colour while none did. */
function heatOf({ succeeded, failed, isHeld }: Stratum): string {
  const ended = succeeded + failed;
  if (isHeld) return 'heat-4';
  if (ended === 0) return 'heat-none';
  const share = failed / ended;
  if (share === 0) return 'heat-0';
  return share < 0.05 ? 'heat-1' : share < 0.2 ? 'heat-2' : share < 0.5 ? 'heat-3' : 'heat-4';
}
