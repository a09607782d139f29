import type { HoldNote } from '../../contract/admin/holds.ts';
import { setAsideIn } from '../decision/assess.ts';
import type { RolloutView } from '../model/rollout.ts';

type WavesNotJudged = Extract<HoldNote, { readonly kind: 'notJudged' }>['waves'];

/** Waves whose gates passed without the waiting collectors of a held stratum. After its release, these collectors start. */
export function wavesWithout(view: RolloutView, stratum: number): WavesNotJudged {
  if (view.rollout.endedAt !== null) return [];
  return view.rollout.waves.flatMap(({ name, state, size, joined }, index) => {
    const { waiting } = setAsideIn(view, index, new Set([stratum]));
    return state === 'passed' && waiting > 0 ? [{ name, size: size + joined, waiting }] : [];
  });
}
