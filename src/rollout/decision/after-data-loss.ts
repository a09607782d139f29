import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import { someNames } from '../../base/names.ts';
import type { Rollout } from '../model/rollout.ts';

/** What kept a rollout from going on by itself, as it was seen last. */
export interface Standstill {
  /** After the rollout's id: `was paused: …`. */
  readonly words: string;
  /** It speaks against this build alone; null: against any. */
  readonly build: string | null;
}

/**
 * Whether a lost rollout stood still by somebody's word, or a breach's. One that did must not be begun anew by a daemon
 * that only sees an empty store: the word was lost with it (P4, P11).
 */
export function standstillOf(rollout: Rollout): Standstill | undefined {
  const { state, reason, targetBuild } = rollout;
  const because = reason === '' ? '' : `: ${reason}`;
  const strata = heldStrataWords(rollout);
  switch (state) {
    case 'awaitingApproval':
      return { words: 'waited for approval', build: null };
    case 'held':
    case 'paused':
      return { words: `was ${state}${because}${strata === '' ? '' : `, and ${strata}`}`, build: null };
    case 'aborted':
      return { words: `was aborted${because}`, build: targetBuild };
    case 'rollingBack':
      return { words: `was rolling back${because}`, build: targetBuild };
    case 'rolledBack':
      return { words: `was rolled back${because}`, build: targetBuild };
    case 'running':
      return standstillOfPart(rollout);
    case 'succeeded':
    case 'finishedWithFailures':
    case 'superseded':
      return undefined;
    default:
      return assertNever(state);
  }
}

/** Whether a lost rollout's standstill is one for a rollout to this build, too. */
export function standsFor(standstill: Standstill, targetBuild: string): boolean {
  return standstill.build === null || isSameBuild(standstill.build, targetBuild);
}

/** A new plan would make canaries of those who were to wait. */
function standstillOfPart(rollout: Rollout): Standstill | undefined {
  const wave = rollout.waves.find(({ state }) => state === 'awaitingApproval');
  const parts = [
    wave === undefined ? '' : `wave ${wave.name} of it waited for approval`,
    heldStrataWords(rollout),
  ].filter((words) => words !== '');
  return parts.length === 0 ? undefined : { words: `ran, and ${parts.join(', and ')}`, build: null };
}

/** Who begins it anew is to know what to hold again. */
function heldStrataWords({ heldStrata }: Rollout): string {
  return someNames(heldStrata.map(({ label, reason }) => `stratum ${label} of it was held: ${reason}`));
}
