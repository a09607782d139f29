import { showCount } from '../../../base/singular-or-plural.ts';
import type { PolicyNeed } from '../../../contract/admin/policies.ts';
import { strataToReleaseFirst } from '../../../rollout/decision/group-to-hold.ts';
import { guideOfStart } from '../../../rollout/messages/guides.ts';
import { headlineWords, policyDueText } from '../../../rollout/messages/need-texts.ts';
import { targetText } from '../../../rollout/messages/plans.ts';
import { capitalized, counted, sentence } from '../../../rollout/messages/sentences.ts';
import { sharedAttributeText } from '../../../rollout/messages/stop-causes.ts';
import { heldName } from '../../../rollout/messages/stratum-reasons.ts';
import { formatAttributes } from '../../../rollout/model/attributes.ts';
import { rolloutIdPattern } from '../../../rollout/model/rollout-id.ts';
import { AccountName } from '../parts/account.tsx';
import { ActButton } from '../parts/act-button.tsx';
import type { Rollout } from '../parts/call.ts';
import { type Deed, DeedNote, RollbackLinks } from '../parts/deeds.tsx';
import { currentWave, endText } from '../parts/needs.ts';
import { Bar, failedOf } from '../parts/progress.tsx';
import { linkTo } from '../parts/route.ts';
import { ByWhom, Time } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';
import { Need, WhatToDo } from '../parts/what-to-do.tsx';
import { buildToRelease, groupDue, HoldFirst, ReleaseBuild, ReleaseStrata } from '../verbs/held.tsx';
import { askVerb, dueVerb, labelOf } from '../verbs/verb-dialogs.tsx';
import type { PolicyOverview } from './policy-overviews.ts';
import { StartButton } from './scans.tsx';

/** @param hasSharedHold its held build stops several rollouts, which a note above says */
export function PolicyRow({
  policy,
  rollout,
  scan,
  deed,
  hasSharedHold,
}: PolicyOverview & { readonly deed: Deed | undefined; readonly hasSharedHold: boolean }) {
  if (rollout === undefined && scan?.needs !== undefined)
    return <NeedingPolicy scan={scan} needs={scan.needs} />;
  if (rollout === undefined) {
    return (
      <li class="policy">
        <h3>
          {policy} <AccountName {...scan} />
        </h3>
        <p class="quiet need">
          No rollout yet.{' '}
          {scan?.nextScanAt ? (
            <>
              Next scan <Time at={scan.nextScanAt} />.
            </>
          ) : null}
        </p>
      </li>
    );
  }
  const current = currentWave(rollout);
  const due = dueVerb(rollout);
  const build = hasSharedHold ? undefined : buildToRelease(rollout);
  const release = due === undefined ? build : undefined;
  const group = hasSharedHold ? undefined : groupDue(rollout);
  const strata = strataToReleaseFirst(rollout);
  const isNothingDue = [due, release, group, strata[0]].every((each) => each === undefined);
  const failed = failedOf(rollout.counts);
  return (
    <li class={rollout.headline.needsPerson ? 'policy needs' : 'policy'}>
      <h3>
        <a href={linkTo.rollout(rollout.id)}>{policy}</a>{' '}
        <Badge name={rollout.headline.kind} words={headlineWords(rollout)} />
      </h3>
      <p class="quiet target">
        {rollout.kind === 'rollback' ? 'back to' : '→'} {targetText(rollout)} <AccountName {...rollout} />{' '}
        <RollbackLinks {...rollout} />
      </p>
      <div class="progress">
        <Bar counts={rollout.counts} size={rollout.planned} label={`${policy}: `} />
        <p class="figures">
          <b>
            {showCount(rollout.counts.succeeded)} / {showCount(rollout.planned)}
          </b>
          {failed > 0 ? (
            <a href={linkTo.collectors(rollout.id, { state: 'failed' })}>{showCount(failed)} failed</a>
          ) : null}
        </p>
      </div>
      <dl class="figures">
        {current === undefined ? null : (
          <>
            <div>
              <dt>Wave</dt>
              <dd>
                {current.wave.name} <span class="quiet">{`${current.number}/${rollout.waves.length}`}</span>
              </dd>
            </div>
            <div>
              <dt>Budget</dt>
              <dd class={current.wave.failures > current.wave.failuresAllowed ? 'error' : undefined}>
                {showCount(current.wave.failures)} of {showCount(current.wave.failuresAllowed)}
              </dd>
            </div>
          </>
        )}
        <div>
          <dt>Done</dt>
          <dd>{endText(rollout, 'short')}</dd>
        </div>
      </dl>
      <div class="needed">
        {hasSharedHold && rollout.reasonKind === 'buildHeld' ? (
          <p class="need">It is held for build {rollout.buildHold?.build}, see above.</p>
        ) : (
          <Need rollout={rollout} />
        )}
        {hasSharedHold ? null : <HeldBuild rollout={rollout} />}
        <FirstHold rollout={rollout} />
        <FirstCause rollout={rollout} />
        <DeedNote deed={deed} rollout={rollout} />
      </div>
      {isNothingDue ? null : (
        <div class="verbs">
          {group === undefined ? null : <HoldFirst rollout={rollout} />}
          {release === undefined ? null : <ReleaseBuild build={release} isDue={group === undefined} />}
          {due === undefined ? null : (
            <ActButton class="primary" onClick={() => askVerb(due, rollout)}>
              {labelOf(due, rollout)}
            </ActButton>
          )}
          <ReleaseStrata labels={strata} />
        </div>
      )}
    </li>
  );
}

/** A policy without a running rollout, which only an operator starts again. */
function NeedingPolicy({
  scan,
  needs,
}: {
  readonly scan: NonNullable<PolicyOverview['scan']>;
  readonly needs: PolicyNeed;
}) {
  const { policy } = scan;
  return (
    <li class="policy needs">
      <h3>
        {policy} <AccountName {...scan} /> <Badge name="startNeeded" words="start needed" />
      </h3>
      <div class="needed">
        <div class="advice">
          <p class="need">{`${capitalized(policyDueText[needs.kind])}. ${sentence(needs.reason)}`}</p>
          <WhatToDo section={guideOfStart} about={policy} />
        </div>
      </div>
      <div class="verbs">
        <StartButton policy={policy} class="primary" />
      </div>
    </li>
  );
}

/** The build that another rollout broke, where the need does not name that rollout. */
function HeldBuild({ rollout: { id, endedAt, reasonKind, buildHold } }: { readonly rollout: Rollout }) {
  if (buildHold === null || endedAt !== null || reasonKind === 'buildHeld') return null;
  const cause = rolloutIdPattern.exec(buildHold.reason)?.[0];
  if (cause === undefined || cause === id) return null;
  return (
    <p class="quiet small">
      Build {buildHold.build} held <ByWhom {...buildHold} />
    </p>
  );
}

/** What is held in a rollout that is not over. */
function FirstHold({ rollout }: { readonly rollout: Rollout }) {
  const [first, ...others] = rollout.strata.held;
  if (first === undefined || rollout.endedAt !== null) return null;
  return (
    <p class="quiet small">
      {capitalized(heldName(first.label))} held <ByWhom {...first} />
      {others.length === 0 ? '' : ` · ${counted(others.length, 'more stratum', 'more strata')} held`}
    </p>
  );
}

/** What the failures share, else their most frequent reason. */
function FirstCause({ rollout }: { readonly rollout: Rollout }) {
  const { id, causes, sharedAttribute } = rollout;
  const first = causes.find(({ of }) => of === 'failed')?.causes[0];
  if (sharedAttribute !== null)
    return (
      <p class="quiet small">
        <a href={linkTo.collectors(id, { attributes: formatAttributes(sharedAttribute.attributes) })}>
          {capitalized(sharedAttributeText(sharedAttribute))}
        </a>
      </p>
    );
  if (first === undefined || first.text === '') return null;
  return (
    <p class="quiet small">
      {showCount(first.count)} of {showCount(failedOf(rollout.counts))} failed:{' '}
      <a href={linkTo.collectors(id, { state: 'failed', cause: first.text })}>{first.text}</a>
    </p>
  );
}
