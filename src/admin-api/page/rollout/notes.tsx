import { counted } from '../../../rollout/messages/sentences.ts';
import { ActButton } from '../parts/act-button.tsx';
import type { Rollout } from '../parts/call.ts';
import { Linked } from '../parts/linked.tsx';
import { ByWhom, TimeAfter } from '../parts/time.tsx';
import { askRelease, type HeldProps } from '../verbs/held.tsx';

const saidAbove: readonly string[] = ['waveApproval', 'planApproval', 'held', 'paused'];

/** Why the rollout does not continue, and what an operator has to release. */
export function Notes({ rollout }: { readonly rollout: Rollout }) {
  const { headline, api, buildHold, strata, drift } = rollout;
  // The headline shows these already.
  const blockers = rollout.blockers.filter(({ kind }) => !saidAbove.includes(kind));
  const outage = api?.outage ?? null;
  return (
    <>
      {outage === null ? null : (
        <p class={outage.kind === 'serviceDown' ? 'note bad' : 'note'}>
          {outage.reason}
          <TimeAfter words=" since " at={outage.since} />
          {outage.detail === null ? null : <span class="quiet"> ({outage.detail})</span>}
          <TimeAfter words="; next try " at={outage.until} />
          {outage.until === null ? '; one request is testing the service' : null}
        </p>
      )}
      {blockers.length === 0 ? null : (
        <ul class={headline.kind === 'held' ? 'note bad' : 'note'} aria-label="Why nothing more starts">
          {blockers.map(({ reason, until }) => (
            <li key={reason}>
              {reason}
              <TimeAfter words=", until " at={until} zone={rollout.window?.timeZone} />
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
      <HeldStrata held={strata.held} />
    </>
  );
}

// A build that is bad for an operating system holds one stratum for each version of that system.
const heldShownMax = 2;

function HeldStrata({ held }: { readonly held: Rollout['strata']['held'] }) {
  const notes = held.map((each) => (
    <HoldNote
      key={each.label}
      what={`stratum ${each.label}`}
      subject={each.label}
      held={{
        ...each,
        reason: `${each.reason}; ${counted(each.waiting, 'collector waits', 'collectors wait')}`,
      }}
    />
  ));
  if (held.length <= heldShownMax) return <>{notes}</>;
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  return (
    <details class="note bad">
      <summary>
        Held: {held.length} strata; {counted(waiting, 'collector waits', 'collectors wait')}
      </summary>
      {notes}
    </details>
  );
}

function HoldNote({ what, subject, held }: HeldProps) {
  return (
    <p class="note bad">
      Held: <bdi>{what}</bdi>: <Linked text={held.reason} /> <ByWhom {...held} />{' '}
      <ActButton onClick={() => askRelease(subject, what)}>release {what}</ActButton>
    </p>
  );
}
