import { signal } from '@preact/signals';
import { groupToHoldFirst } from '../../../rollout/decision/group-to-hold.ts';
import { buildReleaseTexts, groupHoldTexts, releaseTexts } from '../../../rollout/messages/consequences.ts';
import { capitalized, counted } from '../../../rollout/messages/sentences.ts';
import { heldBuildName, heldName } from '../../../rollout/messages/stratum-reasons.ts';
import { ActButton } from '../parts/act-button.tsx';
import { callDaemon, type Rollout } from '../parts/call.ts';
import { openQuestion } from '../parts/dialog.tsx';
import { holds, rollouts, tookPlace } from '../parts/live.ts';
import { problemText } from '../parts/reading.ts';
import { linkTo } from '../parts/route.ts';
import { ByWhom } from '../parts/time.tsx';

// More collectors than this are counted, not named.
const heldMax = 50;
// A build that is bad for an operating system holds one stratum for each version of that system.
const strataOpenMax = 3;

/** Everything that is held until an operator releases it. */
export function HeldThings() {
  if (holds.value === undefined) return null;
  const { builds, collectors, groups } = holds.value;
  // A group that is held over all rollouts is one row.
  const labels = new Set(groups.map(({ label }) => label));
  const strata = holds.value.strata.filter(({ label }) => !labels.has(label));
  if (builds.length + collectors.length + groups.length + strata.length === 0) return null;
  const more = collectors.length - heldMax;
  const strataRows = strata.map((each) => (
    <HeldRow
      key={`${each.rolloutId} ${each.label}`}
      what={`${heldName(each.label)} of ${each.rolloutId}`}
      subject={each.label}
      held={each}
    />
  ));
  return (
    <section class="card" aria-labelledby="held">
      <h2 id="held">Held until released</h2>
      <ul class="rows">
        {builds.map((each) => (
          <HeldRow
            key={`build ${each.build} ${each.accountName}`}
            what={heldBuildName(each)}
            subject={each.build}
            held={each}
          />
        ))}
        {groups.map((each) => (
          <HeldRow
            key={`group ${each.label}`}
            what={`group ${each.label}`}
            subject={each.label}
            held={each}
          />
        ))}
        {strata.length > strataOpenMax ? null : strataRows}
        {collectors.slice(0, heldMax).map((each) => (
          <HeldRow
            key={each.collectorId}
            what={`collector ${each.name ?? each.collectorId}`}
            link={linkTo.collector(each.collectorId)}
            subject={String(each.collectorId)}
            held={each}
          />
        ))}
        {more > 0 ? <li>{counted(more, 'more collector')}</li> : null}
      </ul>
      {strata.length > strataOpenMax ? (
        <details>
          <summary>{strata.length} strata</summary>
          <ul class="rows">{strataRows}</ul>
        </details>
      ) : null}
    </section>
  );
}

export interface HeldProps {
  readonly what: string;
  readonly subject: string;
  readonly held: { readonly reason: string; readonly by: string; readonly at: number };
}

function HeldRow({ what, subject, link, held }: HeldProps & { readonly link?: string }) {
  return (
    <li>
      <b>{link === undefined ? <bdi>{what}</bdi> : <a href={link}>{what}</a>}</b>
      <span>
        <ByWhom {...held} />
      </span>
      <ActButton onClick={() => askRelease(subject, what)} aria-label={`release ${what}`}>
        release
      </ActButton>
    </li>
  );
}

/** The build for which a rollout is held. It has to be released before the rollout can be resumed. */
export function buildToRelease({ state, buildHold }: Rollout): string | undefined {
  return state === 'held' ? buildHold?.build : undefined;
}

/** @param isDue false: something else comes first, such as the hold of the group that explains the failures */
export function ReleaseBuild({ build, isDue = true }: { readonly build: string; readonly isDue?: boolean }) {
  return (
    <ActButton class={isDue ? 'primary' : undefined} onClick={() => askRelease(build, `build ${build}`)}>
      release build {build} …
    </ActButton>
  );
}

/** The group that explains most failures of a held rollout, which is held before a release and a resume. */
export function groupDue(rollout: Rollout): string | undefined {
  return rollout.state === 'held' ? groupToHoldFirst(rollout) : undefined;
}

/** Holds that group; nothing where there is none. */
export function HoldFirst({ rollout }: { readonly rollout: Rollout }) {
  const group = groupDue(rollout);
  const { sharedAttribute: shared, planned } = rollout;
  if (group === undefined || shared === null) return null;
  const count = counted(Math.round(shared.share * planned), 'collector');
  return (
    <ActButton class="primary" onClick={() => askHold(group, `the ${count} with ${group}`)}>
      hold {group} …
    </ActButton>
  );
}

/** Releases the strata without which a resume would end the rollout; nothing where there are none. */
export function ReleaseStrata({ labels }: { readonly labels: readonly string[] }) {
  const [first, ...others] = labels;
  if (first === undefined) return null;
  const what = others.length === 0 ? heldName(first) : `the ${labels.length} held strata`;
  const ask = () => (others.length === 0 ? askRelease(first, what) : askReleaseAll(labels, what));
  return (
    <ActButton class="primary" onClick={ask}>
      release {what} …
    </ActButton>
  );
}

/** @param then reads the page's data again after the call */
export function askHold(subject: string, what: string, then?: () => void): void {
  openQuestion({
    title: `Hold ${what}`,
    label: 'hold',
    content: (
      <ul>
        {groupHoldTexts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    ),
    send: async (reason) => {
      await callDaemon('holdSubject', { body: { subject, reason } });
      then?.();
    },
  });
}

/** Releases held strata one by one. Sent again, it continues with those that are held. */
function askReleaseAll(labels: readonly string[], what: string): void {
  const done = new Set<string>();
  openQuestion({
    title: `Release ${what}`,
    label: 'release',
    content: (
      <ul>
        {labels.map((label) => (
          <li key={label}>
            {capitalized(heldName(label))}: {releaseTexts(label, rollouts.value).join(' ')}
          </li>
        ))}
      </ul>
    ),
    send: async (reason) => {
      for (const subject of labels) {
        if (done.has(subject)) continue;
        await callDaemon('releaseSubject', { body: { subject, reason } });
        done.add(subject);
      }
    },
  });
}

/** Releases it. Where it is a build, rollouts that are held for it can be resumed in the same dialog. */
export function askRelease(subject: string, what: string, then?: () => void): void {
  const waiting = rollouts.value.filter(
    ({ buildHold, state }) => buildHold?.build === subject && state === 'held',
  );
  const isBuild = waiting.length > 0 || holds.value?.builds.some(({ build }) => build === subject) === true;
  const textsOf = isBuild ? buildReleaseTexts : releaseTexts;
  const resumes = signal(false);
  const done = new Set<string>();
  openQuestion({
    title: `Release ${what}`,
    label: 'release',
    content: (
      <>
        {textsOf(subject, rollouts.value).map((text) => (
          <p key={text}>{text}</p>
        ))}
        {waiting.length === 0 ? null : (
          <label class="check">
            <input
              type="checkbox"
              onChange={({ currentTarget }) => (resumes.value = currentTarget.checked)}
            />
            Also resume {counted(waiting.length, 'rollout')}: {waiting.map(({ id }) => id).join(', ')}
          </label>
        )}
      </>
    ),
    send: async (reason) => {
      await callDaemon('releaseSubject', { body: { subject, reason } });
      for (const { id, hold } of resumes.value ? waiting : []) {
        if (done.has(id)) continue;
        try {
          tookPlace(await callDaemon('resumeRollout', { params: { id }, body: { reason, hold: hold ?? 0 } }));
        } catch (error) {
          throw new Error(`The build is released. ${id}: ${problemText(error)}. Send again to continue.`);
        }
        done.add(id);
      }
      then?.();
    },
  });
}
