import type { ComponentChildren } from 'preact';
import { sumOf } from '../../../base/grouping.ts';
import { showCount } from '../../../base/singular-or-plural.ts';
import { formatDuration } from '../../../base/time.ts';
import { fromText } from '../../../rollout/messages/plans.ts';
import { starterText } from '../../../rollout/messages/sentences.ts';
import { leftOutCommandOf } from '../../../rollout/status/command-for.ts';
import type { Rollout } from '../parts/call.ts';
import { endText } from '../parts/needs.ts';
import { linkTo } from '../parts/route.ts';
import { Time, TimeAfter } from '../parts/time.tsx';

/** The frozen plan in figures. */
export function Plan({ rollout }: { readonly rollout: Rollout }) {
  const { planned, window, api, strata, rollbackOf, rollbackId, counts } = rollout;
  const other = planned - counts.succeeded;
  return (
    <dl class="facts">
      <Fact name="Hash">
        <code>{rollout.planHash}</code>
      </Fact>
      <Fact name="Collectors">
        <a href={linkTo.collectors(rollout.id)}>{showCount(planned)}</a>
      </Fact>
      <Fact name="In flight">
        {showCount(rollout.inFlight)} of {showCount(rollout.concurrency)}
      </Fact>
      <Fact name="Done">{endText(rollout)}</Fact>
      <Fact name="Started">
        <Time at={rollout.createdAt} zone={window?.timeZone} /> by {starterText(rollout.startedBy)}
        {rollout.endedAt === null ? null : `, took ${formatDuration(rollout.endedAt - rollout.createdAt)}`}
      </Fact>
      <Fact name="Builds">
        {showCount(counts.succeeded)} on{' '}
        {rollout.kind === 'rollback' ? 'their former build' : rollout.targetBuild}
        {other > 0 ? `, ${showCount(other)} on ${fromText(rollout) || 'others'}` : ''}
      </Fact>
      {window === null ? null : (
        <Fact name="Window">
          <span class={window.isOpen ? undefined : 'late'}>{window.isOpen ? 'open' : 'closed'}</span>
          <TimeAfter words=" until " at={window.until} zone={window.timeZone} /> {window.timeZone}
          <span class="quiet small">
            {window.ownZones ? ", also by each collector's own time zone" : ''}{' '}
            {window.reason === '' ? '' : `(${window.reason})`}
          </span>
        </Fact>
      )}
      {api === null ? null : (
        <Fact name="API">
          {rateText(api)}
          {api.rateLimited === 0 ? '' : `, ${api.rateLimited} throttled (429) in the last hour`}
        </Fact>
      )}
      {strata.total > 1 ? (
        <Fact name="Strata">
          {showCount(strata.total)}
          {strata.uncovered.count === 0 ? null : (
            <span title={strata.uncovered.labels.join(' · ')}>
              , {showCount(strata.uncovered.count)} in the last wave only
            </span>
          )}
        </Fact>
      ) : null}
      {rollbackOf === null ? null : (
        <Fact name="Rolls back">
          <a href={linkTo.rollout(rollbackOf)}>{rollbackOf}</a>
        </Fact>
      )}
      {rollbackId === null ? null : (
        <Fact name="Rolled back by">
          <a href={linkTo.rollout(rollbackId)}>{rollbackId}</a>
        </Fact>
      )}
    </dl>
  );
}

/** Number of collectors that the plan left out, and that a rollback did not take back. */
export function leftOutCount({ leftOut, leftBehind }: LeftOutProps['rollout']): number {
  return sumOf(leftOut, ({ count }) => count) + sumOf(leftBehind, ({ count }) => count);
}

interface LeftOutProps {
  readonly rollout: Pick<Rollout, 'kind' | 'policy' | 'leftOut' | 'leftBehind'>;
}

/** Who is not in the plan, by reason, the most first. The daemon keeps no names, so a command finds them. */
export function LeftOut({ rollout: { kind, policy, leftOut, leftBehind } }: LeftOutProps) {
  const out = leftOut.toSorted((a, b) => b.count - a.count);
  if (out.length + leftBehind.length === 0) return <p class="quiet">Nobody.</p>;
  return (
    <>
      <ul class="rows counts">
        {out.map((each) => {
          const command = kind === 'upgrade' ? leftOutCommandOf(policy, each) : undefined;
          return (
            <li key={each.reason}>
              <b>{showCount(each.count)}</b>
              <span>
                {each.reason}
                {command === undefined ? null : <code class="block quiet">{command}</code>}
              </span>
            </li>
          );
        })}
      </ul>
      {leftBehind.length === 0 ? null : (
        <>
          <h3>Not rolled back</h3>
          <ul class="rows counts">
            {leftBehind.map(({ reason, count, names }) => (
              <li key={reason}>
                <b>{showCount(count)}</b>
                <span>
                  {reason}: {names.join(', ')}
                  {count > names.length ? ', …' : ''}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function rateText(api: NonNullable<Rollout['api']>): string {
  const [allowed, most] = [shownRate(api.requestsPerSecondNow), shownRate(api.requestsPerSecondMax)];
  const used = `${api.requestsPerSecond.toFixed(1)} of ${allowed} requests/s`;
  return allowed === most ? used : `${used}, lowered from ${most} by 429s`;
}

function shownRate(requestsPerSecond: number): string {
  return String(Number(requestsPerSecond.toFixed(2)));
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
