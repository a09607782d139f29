import { assertNever } from '../../base/assert.ts';
import { formatDuration } from '../../base/time.ts';
import { type Implausible, implausibleHoldAfterMs } from '../model/assess-inventory.ts';
import type { SharedAttribute } from '../model/attributes.ts';
import { formatAttributes } from '../model/attributes.ts';
import type { FailureFigures, HoldCause, StopCause, WaveFailures } from '../model/stop-cause.ts';
import { gateWords } from './gates.ts';
import type { Sentences } from './sentences.ts';
import { stateWords } from './sentences.ts';

/** Why a rollout stops by itself: the reason of its hold, abort or rollback, with what a person can do. */
export const stopSentences: Sentences<StopCause> = {
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
  failures: ({ failures, shared }) =>
    `${waveFailuresWords(failures)}${shared === undefined ? '' : `; ${sharedAttributeWords(shared)}`}`,
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

/** `wave canary: failures 3, allowed 2`. */
export function waveFailuresWords(failures: WaveFailures): string {
  return `wave ${failures.wave}: failures ${failureLimitWords(failures, `, allowed ${failures.failuresAllowed}`)}`;
}

/**
 * A wave's failures against its limit: `3 (1 lost x 3), allowed 2`, or `3, allowed 2, not counting 7 acknowledged`.
 * Which of the acknowledged ones were lost is not known, so the weight is explained only where there are none.
 */
function failureLimitWords(
  { failures, acknowledged, lost, lostWeight }: Omit<FailureFigures, 'failuresAllowed'>,
  allowed: string,
): string {
  if (acknowledged > 0) return `${failures}${allowed}, not counting ${acknowledged} acknowledged`;
  return lost === 0 ? `${failures}${allowed}` : `${failures} (${lost} lost x ${lostWeight})${allowed}`;
}

/** What is wrong with a reading of the inventory. */
export function implausibleWords(why: Implausible): string {
  switch (why.kind) {
    case 'empty':
      return `the inventory is not plausible: it is empty, ${why.expected} collectors are expected`;
    case 'manyGone':
      return `the inventory is not plausible: it lacks ${why.missing} of ${why.members} collectors of the rollout`;
    case 'short':
      return `the inventory is not plausible: it lists ${why.size} collectors, ${why.before} before`;
    default:
      return assertNever(why);
  }
}

/** What failures have in common: `22 of 23 failures have osName=Windows* (22 of 66 there, 1 of 46 elsewhere)`. */
export function sharedAttributeWords({ attributes, failed, tried, elsewhere }: SharedAttribute): string {
  const all = failed + elsewhere.failed;
  const share = all === failed ? `all ${failed}` : `${failed} of ${all}`;
  const figures = `${failed} of ${tried} there, ${elsewhere.failed} of ${elsewhere.tried} elsewhere`;
  return `${share} failures have ${formatAttributes(attributes)} (${figures})`;
}
