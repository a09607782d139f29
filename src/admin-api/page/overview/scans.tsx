import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { singularOrPlural } from '../../../base/singular-or-plural.ts';
import type { ReloadChanges } from '../../../contract/admin/reload.ts';
import { type ReloadStage, reloadLines } from '../../../rollout/messages/config-texts.ts';
import {
  earlierText,
  expectedTexts,
  expectedWarnings,
  leftOutTexts,
  planText,
  retriedText,
  startText,
} from '../../../rollout/messages/plans.ts';
import { besideText } from '../../../rollout/messages/scans.ts';
import { counted, sentence } from '../../../rollout/messages/sentences.ts';
import { AccountName, isOfChosenAccount } from '../parts/account.tsx';
import { ActButton } from '../parts/act-button.tsx';
import { type AnswerOf, callDaemon, type Policies } from '../parts/call.ts';
import { openQuestion } from '../parts/dialog.tsx';
import { Lines } from '../parts/lines.tsx';
import { Linked } from '../parts/linked.tsx';
import { policies, rollouts } from '../parts/live.ts';
import { linkTo } from '../parts/route.ts';
import { clockText, Time, TimeAfter } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';

type Policy = Policies['policies'][number];

// More policies without a problem are folded: the list above has them all.
const openMax = 4;

/** The last scan of each policy, and rollouts without a policy in the config. */
export function PolicyScans() {
  const scans = policies.value;
  if (scans === undefined || scans.policies.length + scans.orphans.length === 0) return null;
  const { orphans, reports } = scans;
  const shown = scans.policies.filter(isOfChosenAccount);
  const folded = shown.length > openMax ? shown.filter((each) => !hasProblem(each)) : [];
  const open = shown.filter((each) => !folded.includes(each));
  return (
    <section class="card" aria-labelledby="scans">
      <h2 id="scans">Scans</h2>
      {reports === undefined ? null : (
        <p class="quiet">Reports of ended rollouts go to {reports.directory}.</p>
      )}
      <ul class="rows">
        {orphans.map(({ id, policy, state }) => (
          <li key={id}>
            <b>{policy}</b>
            <span>
              <Badge name={state} /> <a href={linkTo.rollout(id)}>{id}</a> waits: its policy is not in the
              config
            </span>
          </li>
        ))}
        {open.map((each) => (
          <ScanRow key={each.policy} {...each} />
        ))}
      </ul>
      {folded.length === 0 ? null : (
        <details>
          <summary>{counted(folded.length, 'policy', 'policies')} without a failed scan</summary>
          <ul class="rows">
            {folded.map((each) => (
              <ScanRow key={each.policy} {...each} />
            ))}
          </ul>
        </details>
      )}
      <p class="verbs">
        <ActButton onClick={askReload}>reload the config file</ActButton>
      </p>
    </section>
  );
}

function hasProblem({ lastScan, config }: Policy): boolean {
  return lastScan?.outcome === 'failed' || config.kind !== 'agreed';
}

const configText = {
  outdated: (others: number) =>
    `${counted(others, 'daemon has', 'daemons have')} a newer config than this one: ${singularOrPlural(others, 'it scans', 'they scan')}. `,
  newest: (others: number) =>
    `${counted(others, 'other daemon has', 'other daemons have')} another config: this one scans. `,
  superseded: () => 'Limits of the running rollout come from a newer config which no running daemon has. ',
} as const;

function ScanRow(scan: Policy) {
  const { policy, lastScan, nextScanAt } = scan;
  const { kind, others } = scan.config;
  return (
    <li>
      <b>
        <bdi>{policy}</bdi>
      </b>
      <span>
        <AccountName {...scan} />{' '}
        {kind === 'agreed' ? null : <span class="late">{configText[kind](others)}</span>}
        {lastScan?.outcome === 'failed' ? <Badge name="failed" /> : null}{' '}
        {lastScan === null ? 'no scan yet' : <Linked text={lastScan.reason} />}{' '}
        <span class="quiet">
          {lastScan === null ? null : <Time at={lastScan.at} />}
          <TimeAfter words=", next " at={nextScanAt} />
        </span>
      </span>
      <StartButton policy={policy} />
    </li>
  );
}

/** Disabled until the rollout of the policy is over, because the daemon refuses a second one. */
export function StartButton({ policy, ...rest }: Pick<Policy, 'policy'> & { readonly class?: string }) {
  const active = rollouts.value.find((each) => each.policy === policy && each.endedAt === null);
  return (
    <ActButton
      {...rest}
      aria-label={`start ${policy}`}
      disabled={active !== undefined}
      title={active === undefined ? undefined : sentence(besideText(active))}
      onClick={() => askStart(policy)}
    >
      start …
    </ActButton>
  );
}

/** Starts a rollout with exactly the plan that the dialog shows (P15). */
export function askStart(policy: string): void {
  const preview = signal<AnswerOf<'previewStart'> | undefined>(undefined);
  const Plan = () =>
    preview.value === undefined ? (
      <p role="status">Reading the fleet …</p>
    ) : (
      <Lines>{planLines(preview.value)}</Lines>
    );
  openQuestion({
    title: `Start a rollout of ${policy}`,
    label: `start ${policy}`,
    content: <Plan />,
    prepare: async () => {
      preview.value = await callDaemon('previewStart', { params: { policy } });
    },
    send: async (reason) => {
      const planHash = preview.value?.planHash ?? '';
      const { id } = await callDaemon('startPolicy', { params: { policy }, body: { reason, planHash } });
      location.hash = linkTo.rollout(id);
    },
  });
}

function planLines(preview: AnswerOf<'previewStart'>): ReadonlyArray<ComponentChildren> {
  const { leftOut, earlier, failedBefore, planned, expectedFailures } = preview;
  return [
    sentence(planText(preview)),
    earlier === null ? null : (
      <b>
        <Linked text={`${earlierText(earlier)}.`} />
      </b>
    ),
    failedBefore === 0 ? null : <b>{sentence(retriedText(preview))}</b>,
    ...(expectedFailures === null
      ? []
      : [
          ...expectedWarnings(expectedFailures).map((words) => <b key={words}>{words}</b>),
          ...expectedTexts(expectedFailures, planned),
        ]),
    ...leftOutTexts(leftOut),
    startText(preview, clockText),
  ];
}

/** Reads the config file again, after it has shown the changes. */
function askReload(): void {
  const preview = signal<AnswerOf<'previewReload'> | undefined>(undefined);
  const Changes = () => (
    <Lines>
      {preview.value === undefined
        ? [
            'The daemon reads its config file again. A file with errors changes nothing.',
            'Running rollouts follow new windows, freezes and limits immediately.',
          ]
        : reloadTexts(preview.value, 'preview')}
    </Lines>
  );
  openQuestion({
    title: 'Reload the config file',
    label: 'reload',
    content: <Changes />,
    prepare: async () => {
      preview.value = await callDaemon('previewReload');
    },
    send: async (reason) =>
      `${reloadTexts(await callDaemon('reloadConfig', { body: { reason } }), 'done').join('. ')}.`,
  });
}

function reloadTexts(changes: ReloadChanges, stage: ReloadStage): readonly string[] {
  return reloadLines(changes, stage).map(({ what, words }) => (what === '' ? words : `${what}: ${words}`));
}
