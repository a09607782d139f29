import { useEffect, useState } from 'preact/hooks';
import { showCount } from '../../../base/singular-or-plural.ts';
import { type GuideSection, guideOfProblem } from '../../../rollout/messages/guides.ts';
import { counted } from '../../../rollout/messages/sentences.ts';
import { AccountName, chosenAccount, isOfChosenAccount, showAllAccounts } from '../parts/account.tsx';
import { ActButton } from '../parts/act-button.tsx';
import { callDaemon, type Policies, type Rollout } from '../parts/call.ts';
import { type Deed, DeedNote, RollbackLinks, useDeeds } from '../parts/deeds.tsx';
import { heardAt, policies, rollouts } from '../parts/live.ts';
import { byNeed, currentWave, endText } from '../parts/needs.ts';
import { Bar, failedOf } from '../parts/progress.tsx';
import { linkTo } from '../parts/route.ts';
import { Time } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';
import { Need, WhatToDo } from '../parts/what-to-do.tsx';
import { HeldThings } from '../verbs/held.tsx';
import { askVerb, dueVerb, labelOf } from '../verbs/verb-dialogs.tsx';
import { PolicyScans } from './scans.tsx';

type Policy = Policies['policies'][number];
interface Row {
  readonly policy: string;
  readonly rollout: Rollout | undefined;
  readonly scan: Policy | undefined;
}

/** One row for each policy, those that need a person first. */
export function Overview() {
  const deeds = useDeeds();
  if (heardAt.value === 0) return <h2 class="lead">The page has no answer of the daemon yet.</h2>;
  const all = rowsOf(rollouts.value, policies.value);
  const rows = all.filter(({ rollout, scan }) => isOfChosenAccount(rollout ?? scan ?? {}));
  const needing = countNeeding(rows);
  const elsewhere = countNeeding(all) - needing;
  return (
    <>
      <h2 class="lead">
        {needing === 0
          ? `Nothing needs you${chosenAccount.value === '' ? '' : ` in account ${chosenAccount.value}`}.`
          : `${counted(needing, 'rollout needs', 'rollouts need')} you.`}
      </h2>
      {elsewhere === 0 ? null : (
        <p class="note bad">
          {counted(elsewhere, 'rollout needs', 'rollouts need')} you in other accounts than{' '}
          {chosenAccount.value}.{' '}
          <button type="button" onClick={showAllAccounts}>
            show all accounts
          </button>
        </p>
      )}
      <DaemonProblems />
      {rows.length === 0 ? (
        <p class="empty">No rollout yet. The daemon scans by each policy’s schedule.</p>
      ) : (
        <ul class="policies">
          {rows.map((row) => (
            <PolicyRow key={row.rollout?.id ?? row.policy} {...row} deed={deeds.get(row.rollout?.id ?? '')} />
          ))}
        </ul>
      )}
      <PolicyScans />
      <HeldThings />
      <Earlier deeds={deeds} />
    </>
  );
}

function countNeeding(rows: readonly Row[]): number {
  return rows.filter(({ rollout }) => rollout?.headline.needsPerson).length;
}

/** Problems that keep the daemon from working, or from reporting. */
function DaemonProblems() {
  if (policies.value === undefined) return null;
  const { notReady, configProblem, configDifference, notificationProblems = [], reports } = policies.value;
  const problems: readonly { readonly words: string; readonly section?: GuideSection }[] = [
    ...(notReady === undefined ? [] : [{ words: `The daemon cannot work. ${notReady}` }]),
    ...(configProblem === undefined
      ? []
      : [
          {
            words: `The config file has errors. The daemon uses the last valid config. ${configProblem}`,
            section: guideOfProblem.configProblem,
          },
        ]),
    ...(configDifference === undefined
      ? []
      : [{ words: `${configDifference}.`, section: guideOfProblem.configDifference }]),
    ...notificationProblems.map((words) => ({
      words: `Notifications fail: ${words}`,
      section: guideOfProblem.notificationProblems,
    })),
    ...(reports?.problem === undefined
      ? []
      : [{ words: `No report is written: ${reports.problem}`, section: guideOfProblem.reports }]),
  ];
  return (
    <>
      {problems.map(({ words, section }) => (
        <div key={words} class="note bad advice">
          <p role="alert">{words}</p>
          <WhatToDo section={section} about={words} />
        </div>
      ))}
    </>
  );
}

/** The running rollouts, else the last of each policy; and the policies without a rollout. */
function rowsOf(all: readonly Rollout[], scans: Policies | undefined): readonly Row[] {
  const scanOf = (policy: string) => scans?.policies.find((each) => each.policy === policy);
  const names = [
    ...new Set([...(scans?.policies ?? []).map(({ policy }) => policy), ...all.map(({ policy }) => policy)]),
  ];
  const rows = names.flatMap((policy): Row[] => {
    const own = all.filter((rollout) => rollout.policy === policy);
    const running = own.filter(({ endedAt }) => endedAt === null);
    const listed = running.length > 0 ? running : own.slice(0, 1);
    const scan = scanOf(policy);
    return listed.length === 0
      ? [{ policy, rollout: undefined, scan }]
      : listed.map((rollout) => ({ policy, rollout, scan }));
  });
  return rows.toSorted((a, b) => byNeed(a.rollout, b.rollout));
}

function PolicyRow({ policy, rollout, scan, deed }: Row & { readonly deed: Deed | undefined }) {
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
  const failed = failedOf(rollout.counts);
  return (
    <li class={rollout.headline.needsPerson ? 'policy needs' : 'policy'}>
      <h3>
        <a href={linkTo.rollout(rollout.id)}>{policy}</a> <Badge name={rollout.headline.kind} />{' '}
        <AccountName {...rollout} />
      </h3>
      <p class="quiet target">
        {rollout.kind === 'rollback' ? `back to ${rollout.backTo.join(', ')}` : `→ ${rollout.targetBuild}`}{' '}
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
              <dt>Failures</dt>
              <dd class={current.wave.failures > current.wave.failuresAllowed ? 'error' : undefined}>
                {showCount(current.wave.failures)} of {showCount(current.wave.failuresAllowed)}
              </dd>
            </div>
          </>
        )}
        <div>
          <dt>Done</dt>
          <dd>{endText(rollout)}</dd>
        </div>
      </dl>
      <div class="needed">
        <Need rollout={rollout} />
        <DeedNote deed={deed} />
      </div>
      {due === undefined ? null : (
        <div class="verbs">
          <ActButton class="primary" onClick={() => askVerb(due, rollout)}>
            {labelOf(due, rollout)}
          </ActButton>
        </div>
      )}
    </li>
  );
}

const earlierMax = 30;

/** Read again only when a rollout starts or ends, because the daemon computes all policies for it. */
function Earlier({ deeds }: { readonly deeds: ReadonlyMap<string, Deed> }) {
  const [past, setPast] = useState<readonly Rollout[]>([]);
  const changes = rollouts.value.map(({ id, endedAt }) => `${id} ${endedAt}`).join();
  useEffect(() => {
    callDaemon('listRollouts', { query: { limit: earlierMax } }).then(
      (page) => setPast(page.rollouts.filter(({ endedAt }) => endedAt !== null)),
      // The state of the connection shows that the daemon is unavailable.
      () => {},
    );
  }, [changes]);
  const shown = past.filter(isOfChosenAccount);
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-labelledby="earlier">
      <h2 id="earlier">Ended rollouts</h2>
      <ul class="rows ended">
        {shown.map(
          ({
            id,
            accountName,
            rollbackOf,
            rollbackId,
            kind,
            backTo,
            headline,
            targetBuild,
            counts,
            planned,
            endedAt,
          }) => (
            <li key={id}>
              <span>
                <a href={linkTo.rollout(id)}>{id}</a> <AccountName {...(accountName && { accountName })} />{' '}
                <RollbackLinks rollbackOf={rollbackOf} rollbackId={rollbackId} />{' '}
                <DeedNote deed={deeds.get(id)} />
              </span>
              <Badge name={headline.kind} />
              <span>{kind === 'rollback' ? `back to ${backTo.join(', ')}` : targetBuild}</span>
              <span>
                {showCount(counts.succeeded)} / {showCount(planned)}
                {failedOf(counts) > 0 ? `, ${showCount(failedOf(counts))} failed` : ''}
              </span>
              <span class="quiet">{endedAt === null ? '' : <Time at={endedAt} />}</span>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}
