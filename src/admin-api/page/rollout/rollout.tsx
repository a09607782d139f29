import { useEffect } from 'preact/hooks';
import { showCount } from '../../../base/singular-or-plural.ts';
import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import { fromText, planText, targetText } from '../../../rollout/messages/plans.ts';
import { sentence } from '../../../rollout/messages/sentences.ts';
import { AccountName } from '../parts/account.tsx';
import { callDaemon } from '../parts/call.ts';
import { DeedNote, RollbackLinks, useDeeds } from '../parts/deeds.tsx';
import { isStale, me, rollouts } from '../parts/live.ts';
import { Bar, Key } from '../parts/progress.tsx';
import { useReading } from '../parts/reading.ts';
import { type AskedDialog, linkTo, replaceRoute } from '../parts/route.ts';
import { Tabs } from '../parts/tabs.tsx';
import { Badge } from '../parts/tones.tsx';
import { Need } from '../parts/what-to-do.tsx';
import { openAskedDialog } from '../verbs/asked-dialog.ts';
import { PlanChecks } from '../verbs/plan-checks.tsx';
import { VerbButtons } from '../verbs/verb-dialogs.tsx';
import { CauseGroups } from './causes.tsx';
import { Events } from './events.tsx';
import { Night } from './night.tsx';
import { Notes } from './notes.tsx';
import { OverTime } from './over-time.tsx';
import { LeftOut, leftOutCount, Plan } from './plan.tsx';
import { SaveReport } from './save-report.tsx';
import { StrataMap } from './strata.tsx';
import { Waves } from './waves.tsx';

const eventsShown = 30;
const readAgainMs = 10_000;

/** One rollout: what to do now, its progress, its failures and its events. */
export function RolloutView({ id, asked }: { readonly id: string; readonly asked: AskedDialog }) {
  const known = rollouts.value.find((each) => each.id === id);
  const { value: details, problem } = useDetails(id, known === undefined);
  const askedDeed = useDeeds().get(id);
  const rollout = known ?? details?.past;
  useEffect(() => {
    if (rollout === undefined || asked.do === undefined) return;
    if (me.value.role === 'operator') openAskedDialog(asked, rollout);
    // A reload of the page does not ask again.
    replaceRoute(linkTo.rollout(id));
  }, [rollout === undefined, asked.do, asked.what]);
  if (rollout === undefined)
    return (
      <p class="empty">
        {problem === '' ? 'loading …' : isStale.value ? problem : `There is no rollout ${id}: ${problem}.`}
      </p>
    );
  const course = details?.course;
  const changed = details?.events.find(({ event }) => event.startsWith('rollout.'));
  const deed = (changed?.at ?? 0) > (askedDeed?.at ?? 0) ? changed : askedDeed;
  return (
    <article class="rollout" aria-labelledby="rollout">
      <header class="title">
        <h2 id="rollout">
          <bdi>{rollout.policy}</bdi>
        </h2>
        <Badge name={rollout.headline.kind} words={headlineWords(rollout)} />
        <AccountName {...rollout} />
        <p class="quiet">
          <bdi>{id}</bdi> · {fromText(rollout)} → <b>{targetText(rollout)}</b> <RollbackLinks {...rollout} />
        </p>
      </header>
      <div class="side">
        <section
          class={rollout.headline.needsPerson ? 'card now needs' : 'card now'}
          aria-label="What to do now"
        >
          <Need rollout={rollout} />
          {rollout.state === 'awaitingApproval' ? (
            <div class="consequences">
              <p>{sentence(planText(rollout))}</p>
              <PlanChecks rollout={rollout} />
            </div>
          ) : null}
          <DeedNote deed={deed} rollout={rollout} />
          <VerbButtons rollout={rollout} />
          <Bar counts={rollout.counts} size={rollout.planned} />
          <Key counts={rollout.counts} rolloutId={id} />
          <Notes rollout={rollout} />
        </section>
        <CauseGroups rollout={rollout} />
      </div>
      <div>
        <section class="card" aria-labelledby="waves">
          <h2 id="waves">Waves</h2>
          <Night rollout={rollout} course={course} />
          <Waves rollout={rollout} course={course} />
        </section>
        {course === undefined ? null : <StrataMap rollout={rollout} course={course} />}
        <Tabs
          label="About the rollout"
          tabs={[
            {
              name: 'Progress',
              content: course === undefined ? null : <OverTime rollout={rollout} course={course} />,
            },
            {
              name: 'Events',
              content: (
                <Events rollout={id} events={details?.events ?? []} counts={course?.eventCounts ?? []} />
              ),
            },
            { name: 'Plan', content: <Plan rollout={rollout} /> },
            {
              name: `Left out ${showCount(leftOutCount(rollout))}`,
              content: <LeftOut rollout={rollout} />,
            },
          ]}
        />
        <SaveReport id={id} />
      </div>
    </article>
  );
}

/** @param isPast the stream does not carry the rollout itself either */
function useDetails(id: string, isPast: boolean) {
  const params = { id };
  const read = async () => {
    const [past, course, { events }] = await Promise.all([
      isPast ? callDaemon('getRollout', { params }) : undefined,
      callDaemon('getRolloutCourse', { params }),
      callDaemon('listRolloutEvents', { params, query: { limit: eventsShown } }),
    ]);
    return { past, course, events };
  };
  return useReading(read, readAgainMs, [id, isPast]);
}
