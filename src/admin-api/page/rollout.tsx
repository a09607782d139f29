import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Course, call, type Rollout, type RolloutEvent } from './api.ts';
import { BurnUp } from './burn-up.tsx';
import { CauseGroups } from './causes.tsx';
import { Events } from './events.tsx';
import { askRelease } from './held.tsx';
import { connection, rollouts } from './live.ts';
import { etaWords, needWords } from './needs.ts';
import { Bar, failedOf, Key } from './progress.tsx';
import { linkTo } from './route.ts';
import { StrataMap } from './strata.tsx';
import { span, Time } from './time.tsx';
import { Timeline } from './timeline.tsx';
import { Badge, counted } from './tones.tsx';
import { VerbButtons } from './verbs.tsx';
import { Waves } from './waves.tsx';

const eventsShown = 30;
const readAgainMs = 10_000;

/** One rollout: what to do now, how far it is, what went wrong, and what happened. */
export function RolloutView({ id }: { readonly id: string }): JSX.Element {
  const known = rollouts.value.find((each) => each.id === id);
  const { past, course, events, problem } = useDetails(id, known === undefined);
  const rollout = known ?? past;
  if (rollout === undefined)
    return <p class="empty">{problem === '' ? 'loading …' : `There is no rollout ${id}: ${problem}.`}</p>;
  const zone = rollout.window?.timeZone;
  return (
    <article aria-labelledby="rollout">
      <header class="title">
        <h2 id="rollout">
          <bdi>{rollout.policy}</bdi>
        </h2>
        <Badge name={rollout.headline.kind} />
        <p class="quiet">
          <bdi>{id}</bdi> · {rollout.fromBuilds.join(', ')} → <b>{rollout.targetBuild}</b>
        </p>
      </header>
      <section
        class={rollout.headline.needsPerson ? 'card now needs' : 'card now'}
        aria-label="What to do now"
      >
        <p class="need">{needWords(rollout)}</p>
        <VerbButtons rollout={rollout} />
        <Bar counts={rollout.counts} size={rollout.planned} />
        <Key counts={rollout.counts} rolloutId={id} />
        <Notes rollout={rollout} zone={zone} />
      </section>
      <section class="card" aria-labelledby="waves">
        <h2 id="waves">Waves</h2>
        <Timeline rollout={rollout} course={course} />
        <Waves rollout={rollout} />
      </section>
      <CauseGroups rollout={rollout} />
      {course === undefined || course.burnUp.points.length < 2 ? null : (
        <BurnUp rollout={rollout} course={course} />
      )}
      {course === undefined ? null : <StrataMap rollout={rollout} course={course} />}
      <Plan rollout={rollout} />
      <Events events={events} counts={course?.eventCounts ?? []} />
    </article>
  );
}

interface Details {
  readonly past: Rollout | undefined;
  readonly course: Course | undefined;
  readonly events: readonly RolloutEvent[];
  readonly problem: string;
}

/** What the stream does not bring: read when the view opens, and again while it is open. */
function useDetails(id: string, isPast: boolean): Details {
  const [details, setDetails] = useState<Details>({
    past: undefined,
    course: undefined,
    events: [],
    problem: '',
  });
  useEffect(() => {
    let isOpen = true;
    const params = { id };
    const read = async () => {
      if (document.hidden || connection.value.kind === 'signedOut') return;
      try {
        const [past, course, { events }] = await Promise.all([
          isPast ? call('getRollout', { params }) : undefined,
          call('getRolloutCourse', { params }),
          call('listRolloutEvents', { params, query: { limit: eventsShown } }),
        ]);
        if (isOpen) setDetails({ past, course, events, problem: '' });
      } catch (error) {
        // What was read before stays.
        if (isOpen)
          setDetails((before) => ({ ...before, problem: error instanceof Error ? error.message : '' }));
      }
    };
    void read();
    const timer = setInterval(() => void read(), readAgainMs);
    return () => {
      isOpen = false;
      clearInterval(timer);
    };
  }, [id, isPast]);
  return details;
}

const saidAbove: readonly string[] = ['waveApproval', 'planApproval', 'held', 'paused'];

/** Why it does not go on, and what an operator has to release. */
function Notes({
  rollout,
  zone,
}: {
  readonly rollout: Rollout;
  readonly zone: string | undefined;
}): JSX.Element {
  const { headline, api, buildHold, strata, drift } = rollout;
  // The headline has said these.
  const blockers = rollout.blockers.filter(({ kind }) => !saidAbove.includes(kind));
  const outage = api?.standstill ?? null;
  return (
    <>
      {outage === null ? null : (
        <p class={outage.kind === 'serviceDown' ? 'note bad' : 'note'}>
          {outage.reason}
          {outage.since === null ? null : (
            <>
              {' '}
              since <Time at={outage.since} />
            </>
          )}
          {outage.detail === null ? null : <span class="quiet"> ({outage.detail})</span>}
          {outage.until === null ? (
            '; one request tries it now'
          ) : (
            <>
              ; next try <Time at={outage.until} />
            </>
          )}
        </p>
      )}
      {blockers.length === 0 ? null : (
        <ul class={headline.kind === 'held' ? 'note bad' : 'note'} aria-label="Why nothing more starts">
          {blockers.map(({ reason, until }) => (
            <li key={reason}>
              {reason}
              {until === null ? null : (
                <>
                  , until <Time at={until} zone={zone} />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {drift === null ? null : (
        <p class="note">
          The fleet moved since plan {drift.from} was shown: {drift.words}
        </p>
      )}
      {buildHold === null ? null : (
        <HoldNote what={`build ${buildHold.build}`} subject={buildHold.build} held={buildHold} />
      )}
      {strata.held.map((each) => (
        <HoldNote
          key={each.label}
          what={`stratum ${each.label}`}
          subject={each.label}
          held={{ ...each, reason: `${each.reason}; ${counted(each.waiting, 'collector')} wait` }}
        />
      ))}
    </>
  );
}

interface HoldNoteProps {
  readonly what: string;
  readonly subject: string;
  readonly held: { readonly reason: string; readonly by: string; readonly at: number };
}

function HoldNote({ what, subject, held: { reason, by, at } }: HoldNoteProps): JSX.Element {
  return (
    <p class="note bad">
      Held: <bdi>{what}</bdi>: {reason}{' '}
      <span class="quiet">
        by {by} since <Time at={at} />
      </span>{' '}
      <button type="button" onClick={() => askRelease(subject, what)}>
        release {what}
      </button>
    </p>
  );
}

/** The frozen plan: its figures, and who is left out. */
function Plan({ rollout }: { readonly rollout: Rollout }): JSX.Element {
  const { planned, leftOut, window, api, strata, rollbackOf, rollbackId, leftBehind, counts } = rollout;
  const out = leftOut.toSorted((a, b) => b.count - a.count);
  const other = planned - counts.succeeded;
  return (
    <section class="card" aria-labelledby="plan">
      <h2 id="plan">Plan {rollout.planHash}</h2>
      <dl class="facts">
        <Fact name="Collectors">
          <a href={linkTo.collectors(rollout.id)}>{planned.toLocaleString('en')}</a>
        </Fact>
        <Fact name="In flight">
          {rollout.inFlight} of {rollout.concurrency}
        </Fact>
        <Fact name="Done">{etaWords(rollout)}</Fact>
        <Fact name="Started">
          <Time at={rollout.createdAt} zone={window?.timeZone} /> by {rollout.startedBy}
          {rollout.endedAt === null ? null : `, took ${span(rollout.endedAt - rollout.createdAt)}`}
        </Fact>
        <Fact name="Builds">
          {counts.succeeded.toLocaleString('en')} on{' '}
          {rollout.kind === 'rollback' ? 'their former build' : rollout.targetBuild}
          {other > 0 ? `, ${other.toLocaleString('en')} on ${rollout.fromBuilds.join(', ') || 'others'}` : ''}
        </Fact>
        {window === null ? null : (
          <Fact name="Window">
            <span class={window.isOpen ? undefined : 'late'}>{window.isOpen ? 'open' : 'closed'}</span>
            {window.until === null ? null : (
              <>
                {' '}
                until <Time at={window.until} zone={window.timeZone} />
              </>
            )}{' '}
            {window.timeZone}
            <span class="quiet small">
              {window.ownZones ? ", also by each collector's own time zone" : ''}{' '}
              {window.reason === '' ? '' : `(${window.reason})`}
            </span>
          </Fact>
        )}
        {api === null ? null : (
          <Fact name="API">
            {api.requestsPerSecond.toFixed(1)} of {Number(api.requestsPerSecondMax.toFixed(2))} requests/s
            {api.rateLimited === 0 ? '' : `, ${api.rateLimited} throttled (429) in the last hour`}
          </Fact>
        )}
        {strata.total > 1 ? (
          <Fact name="Strata">
            {strata.total}
            {strata.uncovered.count === 0 ? null : (
              <span title={strata.uncovered.labels.join(' · ')}>
                , {strata.uncovered.count} in the last wave only
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
      {out.length === 0 ? null : (
        <>
          <h3>Left out</h3>
          <ul class="rows counts">
            {out.map(({ reason, count }) => (
              <li key={reason}>
                <b>{count.toLocaleString('en')}</b>
                <span>{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {leftBehind.length === 0 ? null : (
        <>
          <h3>Not rolled back</h3>
          <ul class="rows counts">
            {leftBehind.map(({ reason, count, names }) => (
              <li key={reason}>
                <b>{count}</b>
                <span>
                  {reason}: {names.join(', ')}
                  {count > names.length ? ', …' : ''}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** For the tab's title: of the rollout that needs a person, or else the newest. */
export function titleOf(all: readonly Rollout[]): string {
  const first = all.find(({ headline }) => headline.needsPerson) ?? all[0];
  if (first === undefined) return 'upwave';
  const percent = Math.floor((100 * first.counts.succeeded) / Math.max(1, first.planned));
  const failed = failedOf(first.counts);
  const state = first.headline.kind.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return `${state} ${percent} %${failed > 0 ? `, ${failed} failed` : ''} · upwave`;
}
