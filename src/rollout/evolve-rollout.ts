import { assertNever } from '../base/assert.ts';
import type { EpochMs } from '../base/time.ts';
import { assessWave } from './gate.ts';
import type { Rollout, RolloutView, Wave } from './rollout.ts';

/** What happened to a rollout as a whole. Only `evolveRollout` turns these into state. */
export type RolloutFact = { readonly at: EpochMs } & (
  | { readonly kind: 'waveOpened'; readonly wave: number }
  | { readonly kind: 'soakBegun'; readonly wave: number; readonly endsAt: EpochMs }
  | { readonly kind: 'wavePassed'; readonly wave: number }
  | { readonly kind: 'held'; readonly reason: string }
  | { readonly kind: 'paused'; readonly reason: string }
  /** What every wave had failed when the operator said to go on: acknowledged. */
  | { readonly kind: 'resumed'; readonly reason: string; readonly waves: RolloutView['waves'] }
  | { readonly kind: 'aborted'; readonly reason: string }
  | { readonly kind: 'finished'; readonly state: 'succeeded' | 'finishedWithFailures' }
  | { readonly kind: 'closed' }
  /** Nothing to say about the rollout itself: the store's brake was lifted. */
  | { readonly kind: 'brakeLifted' }
);

/** The only way a rollout changes. */
export function evolveRollout(rollout: Rollout, fact: RolloutFact): Rollout {
  const next = { ...rollout, rev: rollout.rev + 1 };
  switch (fact.kind) {
    case 'waveOpened':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'open', openedAt: fact.at }) };
    case 'soakBegun':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'soaking', soakEndsAt: fact.endsAt }) };
    case 'wavePassed':
      return { ...next, waves: withWave(rollout, fact.wave, { state: 'passed', passedAt: fact.at }) };
    case 'held':
      return { ...next, state: 'held', reason: fact.reason };
    case 'paused':
      return { ...next, state: 'paused', reason: fact.reason };
    case 'resumed':
      return { ...next, state: 'running', reason: fact.reason, waves: acknowledge(rollout, fact.waves) };
    case 'aborted':
      return { ...next, state: 'aborted', reason: fact.reason };
    case 'finished':
      return {
        ...next,
        state: fact.state,
        reason: 'every collector of the plan has ended',
        endedAt: fact.at,
      };
    case 'closed':
      return { ...next, endedAt: fact.at };
    case 'brakeLifted':
      return next;
    default:
      return assertNever(fact);
  }
}

function withWave(rollout: Rollout, index: number, changes: Partial<Wave>): readonly Wave[] {
  return rollout.waves.map((wave, i) => (i === index ? { ...wave, ...changes } : wave));
}

/** Resuming says: I have seen these failures, and the missing evidence; only new ones count. */
function acknowledge(rollout: Rollout, summaries: RolloutView['waves']): readonly Wave[] {
  return rollout.waves.map((wave, index) => {
    const rule = rollout.policy.waves[index];
    const summary = summaries[index];
    if (wave.state === 'waiting' || rule === undefined || summary === undefined) return wave;
    const { settled, hasEvidence, failures } = assessWave(wave, rule, summary);
    return {
      ...wave,
      acknowledgedWeight: Math.max(wave.acknowledgedWeight, failures),
      acceptedWithoutEvidence: wave.acceptedWithoutEvidence || (settled && !hasEvidence),
    };
  });
}
