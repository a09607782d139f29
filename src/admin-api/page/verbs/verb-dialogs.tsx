import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { formatDuration } from '../../../base/time.ts';
import { waveApprovalWords } from '../../../rollout/messages/approvals.ts';
import { capitalized } from '../../../rollout/messages/sentences.ts';
import { call, type Rollout, type Verb, type Wave } from '../parts/call.ts';
import { ask } from '../parts/dialog.tsx';
import { rollouts, tookPlace } from '../parts/live.ts';
import { failedOf } from '../parts/progress.tsx';
import { Time } from '../parts/time.tsx';
import { counted } from '../parts/tones.tsx';
import { makeRollbackPreview } from './rollback-preview.tsx';

const stopping: readonly Verb[] = ['abort', 'rollback'];

/** Buttons for the legal verbs, as the daemon lists them. The one that is due comes first. */
export function VerbButtons({ rollout }: { readonly rollout: Rollout }) {
  const due = dueVerb(rollout);
  const others = rollout.verbs.filter((each) => each !== due);
  return (
    <div class="verbs">
      {[...(due === undefined ? [] : [due]), ...others].map((each) => (
        <button
          key={each}
          type="button"
          class={each === due ? 'primary' : stopping.includes(each) ? 'bad' : undefined}
          aria-label={`${labelOf(each, rollout)} of ${rollout.id}`}
          onClick={() => askVerb(each, rollout)}
        >
          {labelOf(each, rollout)}
        </button>
      ))}
    </div>
  );
}

/** The action that the rollout needs in order to continue. */
export function dueVerb(rollout: Rollout): Verb | undefined {
  if (!rollout.headline.needsPerson) return undefined;
  return (['approve', 'resume'] as const).find((each) => rollout.verbs.includes(each));
}

export function labelOf(verb: Verb, rollout: Rollout): string {
  switch (verb) {
    case 'approve':
      return rollout.state === 'awaitingApproval'
        ? `approve plan ${rollout.planHash}`
        : `approve wave ${waveThatIs('awaitingApproval', rollout)?.name ?? ''}`;
    case 'skipSoak':
      return `skip soak of wave ${waveThatIs('soaking', rollout)?.name ?? ''}`;
    case 'retry':
      return `retry ${failedOf(rollout.counts)} failed`;
    case 'rollback':
      return rollout.kind === 'rollback' ? 'start outside the window' : 'roll back';
    default:
      return verb;
  }
}

export function askVerb(verb: Verb, rollout: Rollout): void {
  const { consequences = [], form, send, prepare, typed } = deeds[verb](rollout);
  const label = labelOf(verb, rollout);
  ask({
    title: `${capitalized(label)}: ${rollout.id}`,
    label,
    isStopping: stopping.includes(verb),
    content: (
      <>
        <Lines>{consequences}</Lines>
        {form}
      </>
    ),
    outdated: () => outdatedWords(verb, rollout),
    ...(typed && { typed: rollout.policy }),
    ...(prepare && { prepare }),
    send: async (reason) => tookPlace(await send(reason)),
  });
}

/** Why the dialog is outdated: somebody else acted, or the rollout continued. */
function outdatedWords(verb: Verb, before: Rollout): string {
  const now = rollouts.value.find(({ id }) => id === before.id);
  if (now === undefined) return '';
  const isLegal = now.verbs.includes(verb);
  if (isLegal && (verb === 'retry' || labelOf(verb, now) === labelOf(verb, before))) return '';
  return `Somebody else acted, or the rollout continued. It is now: ${now.reason}. Go back to see what can be done.`;
}

interface Deed {
  /** Lines; null and empty ones are left out. */
  readonly consequences?: readonly ComponentChildren[];
  /** What stands below them. */
  readonly form?: JSX.Element;
  readonly typed?: boolean;
  readonly prepare?: () => Promise<void>;
  readonly send: (reason: string) => Promise<Rollout>;
}

const deeds: { readonly [Name in Verb]: (rollout: Rollout) => Deed } = {
  pause: (rollout) => ({
    consequences: [
      'Nothing more starts.',
      runningLine(rollout),
      `${counted(waiting(rollout), 'collector')} wait until you resume.`,
    ],
    send: (reason) => call('pauseRollout', { params: { id: rollout.id }, body: { reason } }),
  }),
  resume: (rollout) => ({
    consequences: [
      `${counted(waiting(rollout) - setAside(rollout), 'collector')} continue, ${rollout.concurrency} at a time.`,
      ...rollout.waves
        .filter(({ state, failures }) => state !== 'passed' && failures > 0)
        .map(
          ({ name, failures, failuresAllowed }) =>
            `The ${counted(failures, 'failure')} of wave ${name} no longer count; ${failuresAllowed} more are allowed.`,
        ),
      `It was stopped: ${rollout.reason}`,
    ],
    send: (reason) =>
      call('resumeRollout', { params: { id: rollout.id }, body: { reason, hold: rollout.hold ?? 0 } }),
  }),
  approve: (rollout) =>
    rollout.state === 'awaitingApproval' ? planApproval(rollout) : waveApproval(rollout),
  skipSoak: (rollout) => {
    const wave = waveThatIs('soaking', rollout);
    return {
      consequences: [
        wave?.soakEndsAt ? (
          <>
            The soak of wave {wave.name} would end at <Time at={wave.soakEndsAt} />, in{' '}
            {formatDuration(Math.max(0, wave.soakEndsAt - Date.now()))}.
          </>
        ) : null,
        `Its ${counted(wave?.counts.succeeded ?? 0, 'upgraded collector')} are no longer watched. Its gates are still checked.`,
      ],
      send: (reason) =>
        call('skipRolloutSoak', { params: { id: rollout.id }, body: { reason, wave: wave?.name ?? '' } }),
    };
  },
  abort: (rollout) => ({
    typed: true,
    consequences: [
      `${counted(waiting(rollout), 'collector')} are not upgraded.`,
      runningLine(rollout),
      `${counted(rollout.counts.succeeded, 'collector')} stay on ${rollout.targetBuild}. Roll back to take them to their former build.`,
    ],
    send: (reason) => call('abortRollout', { params: { id: rollout.id }, body: { reason } }),
  }),
  rollback: (rollout) => {
    const preview = makeRollbackPreview(rollout);
    return {
      typed: true,
      form: <preview.Lines />,
      prepare: preview.load,
      send: (reason) =>
        call('rollBackRollout', { params: { id: rollout.id }, body: { reason, ...preview.confirmed() } }),
    };
  },
  retry: (rollout) => {
    const failed = failedOf(rollout.counts);
    const failureClass = signal('');
    const classes = [
      ...new Set(rollout.causes.flatMap(({ causes }) => causes.flatMap((each) => each.failureClass ?? []))),
    ];
    return {
      consequences: [
        classes.length > 1
          ? `The chosen ones of ${counted(failed, 'failed collector')} are upgraded again, each with new attempts.`
          : `${counted(failed, 'failed collector')} are upgraded again, each with new attempts.`,
        'Failures of these upgrades no longer count until they fail again.',
      ],
      form: (
        <label>
          Which failures
          <select onChange={({ currentTarget }) => (failureClass.value = currentTarget.value)}>
            <option value="">all {failed}</option>
            {classes.map((each) => (
              <option key={each} value={each}>
                only {each}
              </option>
            ))}
          </select>
        </label>
      ),
      send: (reason) =>
        call('retryRollout', {
          params: { id: rollout.id },
          body: { reason, failed, ...(failureClass.value !== '' && { failureClass: failureClass.value }) },
        }),
    };
  },
};

function planApproval(rollout: Rollout): Deed {
  const { drift, planHash, planned, targetBuild, waves } = rollout;
  return {
    consequences: [
      drift === null ? null : `The fleet has changed since plan ${drift.from} was shown: ${drift.words}.`,
      `Plan ${planHash}: ${counted(planned, 'collector')} go to ${targetBuild}.`,
      `Waves: ${waves.map(({ name, size }) => `${name} ${size}`).join(', ')}.`,
      windowLine(rollout),
    ],
    send: (reason) => call('approveRollout', { params: { id: rollout.id }, body: { reason, planHash } }),
  };
}

function waveApproval(rollout: Rollout): Deed {
  const wave = waveThatIs('awaitingApproval', rollout);
  return {
    consequences: [
      wave === undefined
        ? null
        : `Wave ${wave.name} opens: ${waveApprovalWords(wave, rollout.targetBuild)}; ${rollout.concurrency} at a time.`,
      `It stops at more than ${counted(wave?.failuresAllowed ?? 0, 'failure')}.`,
      `So far ${counted(rollout.counts.succeeded, 'collector')} succeeded and ${failedOf(rollout.counts)} failed.`,
      windowLine(rollout),
    ],
    send: (reason) =>
      call('approveRollout', { params: { id: rollout.id }, body: { reason, wave: wave?.name ?? '' } }),
  };
}

export function Lines({ children }: { readonly children: readonly ComponentChildren[] }) {
  const shown = children.filter((child) => child !== null && child !== '');
  return shown.length === 0 ? null : (
    <ul>
      {shown.map((child, index) => (
        <li key={index}>{child}</li>
      ))}
    </ul>
  );
}

function runningLine({ inFlight }: Rollout): string {
  return inFlight === 0
    ? 'No upgrade is running.'
    : `${counted(inFlight, 'running upgrade')} are watched to their end.`;
}

function waiting({ counts }: Rollout): number {
  return counts.pending + counts.retrying + counts.deferred;
}

/** Waiting members of held strata: they start after a release. */
function setAside({ waves }: Rollout): number {
  return waves.reduce((sum, wave) => sum + wave.setAside, 0);
}

function windowLine({ window }: Rollout): string | null {
  return window === null || window.isOpen
    ? null
    : `The window is closed now (${window.reason}); it starts when it opens.`;
}

/** undefined where the status and the verbs were read at different times, and no wave has this state: the daemon refuses. */
function waveThatIs(state: Wave['state'], rollout: Rollout): Wave | undefined {
  return rollout.waves.find((wave) => wave.state === state);
}
