import { call, type Rollout, type Verb, type Wave } from './api.ts';
import { openDialog } from './dialog.ts';
import { make } from './elements.ts';
import { failedOf } from './progress.ts';
import { makeRollbackPreview, type RollbackPreview } from './rollback-preview.ts';

/** A verb that a person may ask for. The request names what was shown, and the daemon refuses another (P15). */
interface Choice {
  readonly label: string;
  readonly preview?: RollbackPreview;
  readonly send: (reason: string) => Promise<unknown>;
}

const stopping: readonly Verb[] = ['abort', 'rollback'];

/** Buttons for the verbs that are legal; which these are, the daemon says. */
export function verbButtons(rollout: Rollout, verbs: readonly Verb[], refresh: () => void): HTMLElement[] {
  return verbs.map((verb) => {
    const { label } = choiceOf(verb, rollout);
    return make(
      'button',
      {
        type: 'button',
        class: stopping.includes(verb) ? 'bad' : undefined,
        'data-key': `${verb} ${rollout.id}`,
        'aria-label': `${label} of ${rollout.id}`,
        onclick: () => void askVerb(verb, rollout, refresh),
      },
      label,
    );
  });
}

function askVerb(verb: Verb, rollout: Rollout, refresh: () => void): Promise<void> {
  const { label, preview, send } = choiceOf(verb, rollout);
  return openDialog({
    label,
    heading: [`${label} of ${rollout.id}?`],
    isStopping: stopping.includes(verb),
    content: [make('p', { class: 'quiet' }, rollout.reason), preview?.element ?? null],
    ...(preview !== undefined && { prepare: preview.load }),
    send: async (reason) => {
      await send(reason);
      refresh();
    },
  });
}

function choiceOf(verb: Verb, rollout: Rollout): Choice {
  const params = { id: rollout.id };
  switch (verb) {
    case 'pause':
      return { label: verb, send: (reason) => call('pauseRollout', { params, body: { reason } }) };
    case 'abort':
      return { label: verb, send: (reason) => call('abortRollout', { params, body: { reason } }) };
    case 'resume': {
      const hold = rollout.hold ?? 0;
      return { label: verb, send: (reason) => call('resumeRollout', { params, body: { reason, hold } }) };
    }
    case 'approve':
      return approvalOf(rollout);
    case 'skipSoak': {
      const wave = waveThatIs('soaking', rollout);
      return {
        label: `skip soak of wave ${wave}`,
        send: (reason) => call('skipRolloutSoak', { params, body: { reason, wave } }),
      };
    }
    case 'retry': {
      const failed = failedOf(rollout.counts);
      return {
        label: `retry ${failed} failed`,
        send: (reason) => call('retryRollout', { params, body: { reason, failed } }),
      };
    }
    case 'rollback': {
      const preview = makeRollbackPreview(rollout);
      return {
        label: rollout.kind === 'rollback' ? 'start outside the window' : 'roll back',
        preview,
        send: (reason) => call('rollBackRollout', { params, body: { reason, ...preview.confirmed() } }),
      };
    }
  }
}

function approvalOf(rollout: Rollout): Choice {
  const params = { id: rollout.id };
  if (rollout.state === 'awaitingApproval') {
    const { planHash } = rollout;
    return {
      label: `approve plan ${planHash}`,
      send: (reason) => call('approveRollout', { params, body: { reason, planHash } }),
    };
  }
  const wave = waveThatIs('awaitingApproval', rollout);
  return {
    label: `approve wave ${wave}`,
    send: (reason) => call('approveRollout', { params, body: { reason, wave } }),
  };
}

/** Empty where the verbs were read before or after the status, and none is so: the daemon then refuses. */
function waveThatIs(state: Wave['state'], rollout: Rollout): string {
  return rollout.waves.find((wave) => wave.state === state)?.name ?? '';
}
