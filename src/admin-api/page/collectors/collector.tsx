import { useState } from 'preact/hooks';
import { formatDuration } from '../../../base/time.ts';
import { seenText } from '../../../rollout/messages/explanations.ts';
import { sentence } from '../../../rollout/messages/sentences.ts';
import { sharesText } from '../../../rollout/messages/stop-causes.ts';
import { ActButton } from '../parts/act-button.tsx';
import { type AnswerOf, callDaemon } from '../parts/call.ts';
import { holds } from '../parts/live.ts';
import { useReading } from '../parts/reading.ts';
import { linkTo } from '../parts/route.ts';
import { ByWhom, clockText, Time, TimeAfter } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';
import { askHold, askRelease } from '../verbs/held.tsx';

type Story = AnswerOf<'explainCollector'>;
type Explanation = Story['explanations'][number];

const readAgainMs = 15_000;

/** One collector: its state in each policy, why it waits and until when, its attempts, its earlier upgrades. */
export function CollectorView({ collector }: { readonly collector: string }) {
  const [asked, setAsked] = useState(0);
  // Each read sends a request to the service.
  const read = () => callDaemon('explainCollector', { params: { collector } });
  const { value: story, problem } = useReading(read, readAgainMs, [collector, asked]);
  const error = problem === '' ? null : <p class="note bad">{problem}</p>;
  if (story === undefined)
    return (
      error ?? (
        <p class="empty" role="status">
          asking the service about {collector} …
        </p>
      )
    );
  const { collectorId, collectorName, build, seen, attributes, explanations, history } = story;
  const rollout = explanations.find((each) => each.rollout !== null)?.rollout ?? null;
  const held = holds.value?.collectors.find((each) => each.collectorId === collectorId);
  const again = () => setAsked((before) => before + 1);
  const askTo = held === undefined ? askHold : askRelease;
  return (
    <article aria-labelledby="collector">
      <header class="title">
        <h2 id="collector">
          <bdi>{collectorName}</bdi>
        </h2>
        <p class="quiet">
          id {collectorId} · runs build <b>{build || 'unknown'}</b>
          {seen === null
            ? ' · the service does not show it now'
            : ` · ${seenText(seen, Date.now(), clockText)}`}
        </p>
        <div class="verbs">
          <ActButton
            class={held === undefined ? undefined : 'primary'}
            onClick={() => askTo(String(collectorId), `collector ${collectorName}`, again)}
          >
            {held === undefined ? 'hold' : 'release'}
          </ActButton>
        </div>
      </header>
      {error}
      {held === undefined ? null : (
        <p class="note bad">
          Held <ByWhom {...held} />
        </p>
      )}
      {explanations.map((each) => (
        <PolicyState key={each.policy} {...each} />
      ))}
      <Attributes attributes={attributes} rollout={rollout} />
      {history.length === 0 ? null : (
        <section class="card" aria-labelledby="past">
          <h2 id="past">Earlier rollouts</h2>
          {history.map(({ rollout, kind, state, fromBuild, toBuild, at, reason, attempts }) => (
            <div key={rollout} class="past">
              <h3>
                <a href={linkTo.rollout(rollout)}>{rollout}</a> <Badge name={state} />{' '}
                {kind === 'rollback' ? <span class="quiet small">rollback</span> : null}
              </h3>
              <p class="quiet small">
                {fromBuild} → {toBuild}
                <TimeAfter words=" · " at={at} /> · {reason}
              </p>
              <Attempts attempts={attempts} />
            </div>
          ))}
        </section>
      )}
    </article>
  );
}

function PolicyState(explanation: Explanation) {
  const { policy, rollout, wave, state, target, stratum, heldGroup, shared, rule, reason, until, kind } =
    explanation;
  return (
    <section class="card" aria-label={`policy ${policy}`}>
      <h2>
        <bdi>{policy}</bdi> <Badge name={state ?? kind} />
      </h2>
      <p class="need">
        {sentence(reason)}
        {until === null ? null : (
          <>
            {' '}
            May change <Time at={until} />
            {until > Date.now() ? ` (in ${formatDuration(until - Date.now())})` : ''}.
          </>
        )}
      </p>
      <p class="quiet">
        {rollout === null ? 'no running rollout' : <a href={linkTo.rollout(rollout)}>{rollout}</a>}
        {wave === null ? '' : ` · wave ${wave}`}
        {target === null ? '' : ` · to ${target}`}
        {stratum === null ? '' : ` · ${stratum}`}
        {rollout === null || stratum === null || heldGroup !== null ? null : (
          <>
            {' · '}
            <a href={linkTo.collectors(rollout, { stratum })}>its neighbours in the stratum</a>
          </>
        )}
      </p>
      {heldGroup === null ? null : (
        <p class="quiet">
          held group{' '}
          {rollout === null ? (
            <bdi>{heldGroup}</bdi>
          ) : (
            <a href={linkTo.collectors(rollout, { attributes: heldGroup })}>
              <bdi>{heldGroup}</bdi>
            </a>
          )}
        </p>
      )}
      {shared === null ? null : <p class="quiet">{sentence(sharesText(shared))}</p>}
      {rule === null ? null : (
        <p class="quiet">
          left out by <code>{rule.path}</code>: <code>{JSON.stringify(rule.rule)}</code>
        </p>
      )}
      <Attempts attempts={explanation.attempts} />
    </section>
  );
}

interface AttributesProps extends Pick<Story, 'attributes'> {
  readonly rollout: string | null;
}

/** What it may share with others. Each leads to those that share it. */
function Attributes({ attributes, rollout }: AttributesProps) {
  if (attributes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="attributes">
      <h2 id="attributes">Attributes</h2>
      <dl class="facts">
        {attributes.map(({ key, value }) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              {rollout === null ? (
                <bdi>{value}</bdi>
              ) : (
                <a href={linkTo.collectors(rollout, { attributes: `${key}=${value}` })}>
                  <bdi>{value}</bdi>
                </a>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Attempts({ attempts }: Pick<Explanation, 'attempts'>) {
  if (attempts.length === 0) return null;
  return (
    <ol class="attempts">
      {attempts.map(({ taskId, startedAt, endedAt, state, reason }, index) => (
        <li key={startedAt}>
          <b>Attempt {index + 1}</b> <Badge name={state} />
          <span>
            <Time at={startedAt} hasSeconds />
            {endedAt === null ? (
              ', running'
            ) : (
              <>
                {' '}
                – <Time at={endedAt} hasSeconds /> ({formatDuration(endedAt - startedAt)})
              </>
            )}
            {taskId === null ? '' : `, task ${taskId}`}
          </span>
          <span class="reason">{reason}</span>
        </li>
      ))}
    </ol>
  );
}
