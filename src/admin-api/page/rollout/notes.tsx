import { namedBlocker } from '../../../rollout/messages/need-texts.ts';
import { capitalized, counted } from '../../../rollout/messages/sentences.ts';
import { heldName } from '../../../rollout/messages/stratum-reasons.ts';
import { ActButton } from '../parts/act-button.tsx';
import type { Rollout } from '../parts/call.ts';
import { ByWhom, TimeAfter } from '../parts/time.tsx';
import { askRelease, buildToRelease, type HeldProps } from '../verbs/held.tsx';

// The headline, or the note of what is held, shows these already.
const saidElsewhere: readonly string[] = ['waveApproval', 'planApproval', 'held', 'paused', 'stratumHeld'];

// A running rollout waits in the course of things: for a slot, a soak or the next start of its pace.
const noteClasses: Readonly<Partial<Record<Rollout['headline']['kind'], string>>> = {
  held: 'note bad',
  running: 'note rest',
};

/** Why the rollout does not continue, and what an operator has to release. */
export function Notes({ rollout }: { readonly rollout: Rollout }) {
  const { headline, api, buildHold, strata, drift } = rollout;
  const named = namedBlocker(rollout);
  const blockers = rollout.blockers.filter((each) => each !== named && !saidElsewhere.includes(each.kind));
  const outage = api?.outage ?? null;
  return (
    <>
      {outage === null ? null : (
        <p class={outage.kind === 'serviceDown' ? 'note bad' : 'note'}>
          {outage.reason}
          <TimeAfter words=" since " at={outage.since} />
          {outage.detail === null ? null : <span class="quiet"> ({outage.detail.replace(/\.$/, '')})</span>}
          <TimeAfter words="; next try " at={outage.until} />
          {outage.until === null ? '; one request is testing the service' : null}
        </p>
      )}
      {blockers.length === 0 ? null : (
        <ul class={noteClasses[headline.kind] ?? 'note'} aria-label="Why nothing more starts">
          {blockers.map(({ kind, reason, until }) => (
            <li key={reason}>
              {reason}
              <TimeAfter
                words={kind === 'pace' ? '; next start ' : ', until '}
                at={until}
                zone={rollout.window?.timeZone}
                hasSeconds={kind === 'pace'}
              />
            </li>
          ))}
        </ul>
      )}
      {drift === null ? null : (
        <p class="note">
          The fleet moved since plan {drift.from} was shown: {drift.words}
        </p>
      )}
      {/* The headline has the hold of another rollout's build, and the reason where this rollout broke it. */}
      {buildHold === null || (rollout.state === 'held' && rollout.reasonKind === 'buildHeld') ? null : (
        <HoldNote
          what={`build ${buildHold.build}`}
          subject={buildToRelease(rollout) === undefined ? buildHold.build : undefined}
          held={buildHold.reason.startsWith(`${rollout.id},`) ? { ...buildHold, reason: '' } : buildHold}
        />
      )}
      <HeldStrata held={strata.held} isOver={rollout.endedAt !== null} />
    </>
  );
}

// A build that is bad for an operating system holds one stratum for each version of that system.
const heldShownMax = 2;

interface HeldStrataProps {
  readonly held: Rollout['strata']['held'];
  /** The rollout has ended: nothing waits, and there is nothing to release. */
  readonly isOver: boolean;
}

function HeldStrata({ held, isOver }: HeldStrataProps) {
  const notes = held.map((each) => (
    <HoldNote
      key={each.label}
      what={heldName(each.label)}
      subject={isOver ? undefined : each.label}
      held={each}
      waits={isOver ? '' : ` · ${waitText(each.waiting)}`}
    />
  ));
  if (held.length <= heldShownMax) return <>{notes}</>;
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  return (
    <details class="note bad">
      <summary>
        Held: {held.length} strata{isOver ? '' : `; ${waitText(waiting)}`}
      </summary>
      {notes}
    </details>
  );
}

function waitText(count: number): string {
  return counted(count, 'collector waits', 'collectors wait');
}

/** @param subject what can be released; undefined: nothing */
function HoldNote({
  what,
  subject,
  held,
  waits = '',
}: Omit<HeldProps, 'subject'> & { readonly subject: string | undefined; readonly waits?: string }) {
  return (
    <div class="note bad">
      <p>
        <b>{capitalized(what)}</b> held <ByWhom {...held} />
        {waits}
      </p>
      {subject === undefined ? null : (
        <ActButton onClick={() => askRelease(subject, what)}>release {what}</ActButton>
      )}
    </div>
  );
}
