import type { Course, Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { countText, numberText } from '../parts/tones.tsx';

type Stratum = Course['strata'][number];

// Two rows of a wide screen, and half a screen of a phone.
const openMax = 12;

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
            {countText(others.length, 'more stratum', 'more strata')}, with{' '}
            {countText(failedIn(others), 'failure')}
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
            {each.label}
          </a>
          <span>
            <b>{numberText(each.succeeded)}</b> of {numberText(each.size)}
            {each.failed > 0 ? (
              <>
                , <b>{numberText(each.failed)} failed</b>
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

/** By the share of failures among those that ended; no colour while none did. */
function heatOf(stratum: Stratum): string {
  if (stratum.isHeld) return 'heat-4';
  if (endedOf(stratum) === 0) return 'heat-none';
  const share = failedShare(stratum);
  if (share === 0) return 'heat-0';
  return share < 0.05 ? 'heat-1' : share < 0.2 ? 'heat-2' : share < 0.5 ? 'heat-3' : 'heat-4';
}
