import { assertNever } from '../base/assert.ts';
import type { EpochMs } from '../base/time.ts';
import type { RolloutFact } from './evolve-rollout.ts';
import { isRolloutEnd, type RolloutView } from './rollout.ts';

export type RolloutVerb = 'pause' | 'resume' | 'abort';

export type VerbJudgement =
  | { readonly kind: 'change'; readonly fact: RolloutFact }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Whether a verb is legal now, and what it does. Repeating a verb changes nothing (DESIGN §5, HTTP). */
export function judgeVerb(
  view: RolloutView,
  request: { readonly verb: RolloutVerb; readonly by: string; readonly reason: string; readonly at: EpochMs },
): VerbJudgement {
  const { state } = view.rollout;
  const { at } = request;
  const reason = request.reason === '' ? `by ${request.by}` : `by ${request.by}: ${request.reason}`;
  switch (request.verb) {
    case 'pause':
      if (state === 'paused') return { kind: 'unchanged' };
      if (state === 'held') return refuse('it is held already, so nothing starts; resume or abort it');
      if (isRolloutEnd(state)) return refuse(`it is over (${state})`);
      return { kind: 'change', fact: { kind: 'paused', at, reason } };
    case 'resume':
      if (state === 'running') return { kind: 'unchanged' };
      if (state !== 'paused' && state !== 'held')
        return refuse(`it is ${state}, and only a paused or held one resumes`);
      return { kind: 'change', fact: { kind: 'resumed', at, reason, waves: view.waves } };
    case 'abort':
      if (state === 'aborted') return { kind: 'unchanged' };
      if (isRolloutEnd(state)) return refuse(`it is over (${state})`);
      return { kind: 'change', fact: { kind: 'aborted', at, reason } };
    default:
      return assertNever(request.verb);
  }
}

function refuse(reason: string): VerbJudgement {
  return { kind: 'refused', reason };
}
