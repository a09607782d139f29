import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { showCount } from '../../../base/singular-or-plural.ts';
import {
  advisesEndWithoutStrata,
  groupToHoldFirst,
  strataToReleaseFirst,
} from '../../../rollout/decision/group-to-hold.ts';
import { consequenceText } from '../../../rollout/messages/consequences.ts';
import { capitalized } from '../../../rollout/messages/sentences.ts';
import { ActButton } from '../parts/act-button.tsx';
import { callDaemon, type Rollout, type Verb, type Wave } from '../parts/call.ts';
import { openQuestion } from '../parts/dialog.tsx';
import { Lines } from '../parts/lines.tsx';
import { rollouts, tookPlace } from '../parts/live.ts';
import { failedOf } from '../parts/progress.tsx';
import { clockText } from '../parts/time.tsx';
import { buildToRelease, HoldFirst, ReleaseBuild, ReleaseStrata } from './held.tsx';
import { PlanChecks } from './plan-checks.tsx';
import { makeRollbackPreview } from './rollback-preview.tsx';

const stopping: readonly Verb[] = ['abort', 'rollback'];

/** Buttons for the legal verbs, as the daemon lists them. The one that is due comes first. */
export function VerbButtons({ rollout }: { readonly rollout: Rollout }) {
  const due = dueVerb(rollout);
  const others = rollout.verbs.filter((each) => each !== due);
  const build = buildToRelease(rollout);
  return (
    <div class="verbs">
      <HoldFirst rollout={rollout} />
      {build === undefined ? null : (
        <ReleaseBuild build={build} isDue={groupToHoldFirst(rollout) === undefined} />
      )}
      {due === undefined ? null : <VerbButton verb={due} rollout={rollout} isDue />}
      <ReleaseStrata labels={strataToReleaseFirst(rollout)} />
      {others.map((each) => (
        <VerbButton key={each} verb={each} rollout={rollout} />
      ))}
    </div>
  );
}

interface VerbButtonProps {
  readonly verb: Verb;
  readonly rollout: Rollout;
  readonly isDue?: boolean;
}

function VerbButton({ verb, rollout, isDue = false }: VerbButtonProps) {
  return (
    <ActButton
      class={isDue ? 'primary' : stopping.includes(verb) ? 'bad' : undefined}
      aria-label={`${labelOf(verb, rollout)} of ${rollout.id}`}
      onClick={() => askVerb(verb, rollout)}
    >
      {labelOf(verb, rollout)}
    </ActButton>
  );
}

/**
 * The action that the rollout needs in order to continue. A group that explains most failures has to be held first. Held strata
 * have to be released where a resume would end the rollout without them, unless they may fail again.
 */
export function dueVerb(rollout: Rollout): Verb | undefined {
  if (!rollout.headline.needsPerson) return undefined;
  if (rollout.verbs.includes('approve')) return 'approve';
  const isAfterRelease = strataToReleaseFirst(rollout).length > 0 && !advisesEndWithoutStrata(rollout);
  const isResumeDue = groupToHoldFirst(rollout) === undefined && !isAfterRelease;
  return rollout.verbs.includes('resume') && isResumeDue ? 'resume' : undefined;
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
      return `retry ${showCount(failedOf(rollout.counts))} failed`;
    case 'rollback':
      return rollout.kind === 'rollback' ? 'start outside the window' : 'roll back';
    default:
      return verb;
  }
}

/** @param chosen for `retry`: the class or the words of the failures that are chosen first */
export function askVerb(verb: Verb, rollout: Rollout, chosen = ''): void {
  const { form, send, prepare, typed } = deeds[verb](rollout, chosen);
  const reader = {
    now: Date.now(),
    showAt: clockText,
    choosesFailures: failureClassesOf(rollout).length > 1,
  };
  const consequences = consequenceText(verb, rollout, reader);
  const label = labelOf(verb, rollout);
  openQuestion({
    title: `${capitalized(label)}: ${rollout.id}`,
    label,
    isStopping: stopping.includes(verb),
    content: (
      <>
        <Lines>{consequences}</Lines>
        {form}
      </>
    ),
    outdated: () => outdatedText(verb, rollout),
    ...(typed && { typed: rollout.policy }),
    ...(prepare && { prepare }),
    send: async (reason) => tookPlace(await send(reason)),
  });
}

/** Why the dialog is outdated: somebody else acted, or the rollout continued. */
function outdatedText(verb: Verb, before: Rollout): string {
  const now = rollouts.value.find(({ id }) => id === before.id);
  if (now === undefined) return '';
  const isLegal = now.verbs.includes(verb);
  if (isLegal && (verb === 'retry' || labelOf(verb, now) === labelOf(verb, before))) return '';
  return `Somebody else acted, or the rollout continued. It is now: ${now.reason}. Close this to see what can be done.`;
}

interface Deed {
  /** What stands below the consequences. */
  readonly form?: JSX.Element;
  readonly typed?: boolean;
  readonly prepare?: () => Promise<void>;
  readonly send: (reason: string) => Promise<Rollout>;
}

const deeds: { readonly [Name in Verb]: (rollout: Rollout, chosen: string) => Deed } = {
  pause: ({ id }) => ({
    send: (reason) => callDaemon('pauseRollout', { params: { id }, body: { reason } }),
  }),
  resume: ({ id, hold }) => ({
    send: (reason) => callDaemon('resumeRollout', { params: { id }, body: { reason, hold: hold ?? 0 } }),
  }),
  approve: (rollout) => {
    const { id, state, planHash } = rollout;
    const isPlan = state === 'awaitingApproval';
    const what = isPlan ? { planHash } : { wave: waveThatIs('awaitingApproval', rollout)?.name ?? '' };
    return {
      ...(isPlan && { form: <PlanChecks rollout={rollout} /> }),
      send: (reason) => callDaemon('approveRollout', { params: { id }, body: { reason, ...what } }),
    };
  },
  skipSoak: (rollout) => {
    const wave = waveThatIs('soaking', rollout)?.name ?? '';
    return {
      send: (reason) => callDaemon('skipRolloutSoak', { params: { id: rollout.id }, body: { reason, wave } }),
    };
  },
  abort: ({ id }) => ({
    typed: true,
    send: (reason) => callDaemon('abortRollout', { params: { id }, body: { reason } }),
  }),
  rollback: (rollout) => {
    const preview = makeRollbackPreview(rollout);
    return {
      typed: true,
      form: <preview.Lines />,
      prepare: preview.load,
      send: (reason) =>
        callDaemon('rollBackRollout', {
          params: { id: rollout.id },
          body: { reason, ...preview.confirmed() },
        }),
    };
  },
  retry: (rollout, chosen) => {
    const failed = failedOf(rollout.counts);
    const cause = signal(chosen);
    const classes = [...new Set([...failureClassesOf(rollout), ...(chosen === '' ? [] : [chosen])])];
    return {
      form: (
        <label>
          Which failures
          <select value={chosen} onChange={({ currentTarget }) => (cause.value = currentTarget.value)}>
            <option value="">all {showCount(failed)}</option>
            {classes.map((each) => (
              <option key={each} value={each}>
                only {each}
              </option>
            ))}
          </select>
        </label>
      ),
      send: (reason) =>
        callDaemon('retryRollout', {
          params: { id: rollout.id },
          body: { reason, failed, ...(cause.value !== '' && { cause: cause.value }) },
        }),
    };
  },
};

function failureClassesOf({ causes: groups }: Rollout) {
  return [...new Set(groups.flatMap(({ causes }) => causes.flatMap((each) => each.failureClass ?? [])))];
}

/** undefined where the status and the verbs were read at different times, and no wave has this state: the daemon refuses. */
function waveThatIs(state: Wave['state'], rollout: Rollout): Wave | undefined {
  return rollout.waves.find((wave) => wave.state === state);
}
