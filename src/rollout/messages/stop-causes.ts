import { formatDuration } from '../../base/time.ts';
import { type Implausible, implausibleHoldAfterMs } from '../model/assess-inventory.ts';
import type { HoldCause, StopCause } from '../model/stop-cause.ts';
import { stateWords } from '../model/upgrade.ts';
import { waveFailuresWords } from './failures.ts';
import { gateWords } from './gates.ts';
import { implausibleWords } from './inventory.ts';

/** Why a rollout stops by itself: the reason of its hold, abort or rollback, with what a person can do. */
export function stopWords(cause: StopCause): string {
  // The table is exhaustive by type; TypeScript can't see that the row and the cause belong together.
  const words = stopSentences[cause.kind] as (cause: StopCause) => string;
  return words(cause);
}

export const stopSentences: {
  readonly [Kind in StopCause['kind']]: (cause: Extract<StopCause, { kind: Kind }>) => string;
} = {
  planUnreadable: () =>
    'the groups of its plan in Redis are unreadable: abort it; running upgrades are watched to their end',
  buildHeld: ({ build, reason }) => `build ${build} is held: ${reason}`,
  inventoryUnresolved: ({ why }) => inventoryWords(why),
  noEvidence: noEvidenceWords,
  gateInconclusive: ({ wave, gate, undecided }) =>
    `wave ${wave}: ${gateWords(gate)}${undecided ? ': undecided for too long' : ''}`,
  gateUnknown: ({ wave, gate }) => `wave ${wave}: nothing is kept of gate ${gate}`,
  onlyHeldStrata: ({ upgrades, labels }) =>
    `all else is done: ${upgrades} collectors of held strata wait (${labels.join('; ')}); release them, or resume to end without them`,
  failures: ({ failures }) => waveFailuresWords(failures),
  gateMissed: ({ wave, gate }) => `wave ${wave}: ${gateWords(gate)}`,
};

function inventoryWords(why: Implausible): string {
  const check = 'check the access key, its role and the base URL';
  const way =
    why.kind === 'empty'
      ? 'then resume: the inventory is read again first'
      : 'or, if they were removed on purpose, resume: it accepts this inventory as the whole fleet';
  return `${implausibleWords(why)}, for ${formatDuration(implausibleHoldAfterMs)}; ${check}, ${way}`;
}

function noEvidenceWords({ wave, ended }: Extract<HoldCause, { kind: 'noEvidence' }>): string {
  const ends = ended.map(({ state, upgrades }) => `${upgrades} ${stateWords(state)}`);
  const of = ends.length === 0 ? '' : ` (${ends.join(', ')})`;
  return `wave ${wave} brought no evidence: no collector of it was upgraded${of}; it continues by itself once one of them is upgraded; resume to continue without evidence, or abort`;
}
