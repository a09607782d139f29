import { showCount } from '../../../base/singular-or-plural.ts';
import { counted } from '../../../rollout/messages/sentences.ts';
import type { Course, Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { StratumLabel } from '../parts/stratum-label.tsx';

type Stratum = Course['strata'][number];

// Two rows of a wide screen, and three of a phone.
const openMax = matchMedia('(max-width: 44rem)').matches ? 6 : 12;

/**
 * Every stratum as a tile: its colour is the share of failures, and the coloured part what is done. Those with the most failures
 * come first.
 */
export function StrataMap({ rollout, course }: { rollout: Rollout; course: Course }) {
  const { strata, strataTotal } = course;
  if (strata.length < 2) return null;
  const worstFirst = strata.toSorted(
    (a, b) => Number(b.isHeld) - Number(a.isHeld) || failedShare(b) - failedShare(a) || b.size - a.size,
  );
  const others = worstFirst.slice(openMax);
  return (
    <section class="card" aria-labelledby="strata">
      <h2 id="strata">Strata</h2>
      <Tiles rollout={rollout} strata={worstFirst.slice(0, openMax)} />
      {others.length === 0 ? null : (
        <details>
          <summary>
            {counted(others.length, 'more stratum', 'more strata')}, with{' '}
            {counted(failedIn(others), 'failure')}
          </summary>
          <Tiles rollout={rollout} strata={others} />
        </details>
      )}
      {strataTotal > strata.length ? (
        <p class="quiet small">{strataTotal - strata.length} strata are not shown</p>
      ) : null}
    </section>
  );
}

function Tiles({ rollout, strata }: { readonly rollout: Rollout; readonly strata: readonly Stratum[] }) {
  return (
    <ul class="heat">
      {strata.map((each) => (
        <li
          key={each.label}
          class={heatOf(each)}
          style={{ '--done': `${each.size === 0 ? 0 : (100 * endedOf(each)) / each.size}%` }}
        >
          <a href={linkTo.collectors(rollout.id, { stratum: each.label })} title={each.label}>
            <StratumLabel label={each.label} />
          </a>
          <span>
            <b>{showCount(each.succeeded)}</b> of {showCount(each.size)}
            {rollout.state === 'rolledBack' ? ' stay' : ''}
            {each.failed > 0 ? (
              <>
                , <b>{showCount(each.failed)} failed</b>
              </>
            ) : null}
            {each.isHeld ? ', held' : ''}
          </span>
        </li>
      ))}
    </ul>
  );
}

function failedIn(strata: readonly Stratum[]): number {
  return strata.reduce((sum, { failed }) => sum + failed, 0);
}

function endedOf({ succeeded, failed }: Stratum): number {
  return succeeded + failed;
}

function failedShare(stratum: Stratum): number {
  const ended = endedOf(stratum);
  return ended === 0 ? 0 : stratum.failed / ended;
}

/** By the share of failures among those that ended. Green is only a whole stratum without failures. */
function heatOf(stratum: Stratum): string {
  if (stratum.isHeld) return 'heat-4';
  const share = failedShare(stratum);
  if (share === 0) return endedOf(stratum) === stratum.size ? 'heat-0' : 'heat-none';
  return share < 0.05 ? 'heat-1' : share < 0.2 ? 'heat-2' : share < 0.5 ? 'heat-3' : 'heat-4';
}
