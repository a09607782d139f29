import { someNames } from '../../base/names.ts';
import { formatDuration } from '../../base/time.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import { type Implausible, implausibleHoldAfterMs } from '../model/assess-inventory.ts';
import { formatAttributes } from '../model/attributes.ts';
import type { FailuresNow, HoldCause, StopCause, WaveFailures } from '../model/stop-cause.ts';
import { gateText } from './gates.ts';
import { counted, makeText, type Sentences, stateText } from './sentences.ts';
import { heldName } from './stratum-reasons.ts';

/** Why the daemon stops a rollout: the reason of its hold, abort or rollback, with what an operator can do. */
export const stopSentences: Sentences<StopCause> = {
  recordsUnreadable: ({ keys }) =>
    `${counted(keys.length, 'record in Redis is', 'records in Redis are')} unreadable: ${someNames(keys)}. Nothing starts, and running upgrades are watched to their end. Save all records with \`upwave export\`, then abort; or restore the record and resume`,
  buildHeld: ({ build, reason, isReleased }) =>
    isReleased === true
      ? `build ${build} was held: ${reason}; it is released`
      : `build ${build} is held: ${reason}`,
  inventoryUnresolved: ({ why }) => inventoryText(why),
  noEvidence: noEvidenceText,
  gateInconclusive: ({ wave, gate, undecided }) =>
    `wave ${wave}: ${gateText(gate)}${undecided ? ': undecided for too long' : ''}`,
  gateUnknown: ({ wave, gate }) => `wave ${wave}: Redis has no record of gate ${gate}`,
  onlyHeldStrata: onlyHeldStrataText,
  failures: ({ failures, shared, now }) =>
    [
      waveFailuresText(failures),
      ...(now === undefined ? [] : [` when it was held; ${failuresNowText(now)}`]),
      ...(shared === undefined ? [] : [`; ${sharedAttributeText(shared)}`]),
    ].join(''),
  gateMissed: ({ wave, gate }) => `wave ${wave}: ${gateText(gate)}`,
};

function inventoryText(why: Implausible): string {
  const check = 'check the access key, its role and the base URL';
  const way =
    why.kind === 'empty'
      ? 'then resume: the inventory is read again first'
      : 'or, if they were removed on purpose, resume: it accepts this inventory as the whole fleet';
  return `${implausibleText(why)}, for ${formatDuration(implausibleHoldAfterMs)}; ${check}, ${way}`;
}

function onlyHeldStrataText({
  upgrades,
  labels,
  since,
}: Extract<HoldCause, { kind: 'onlyHeldStrata' }>): string {
  const held = `${counted(upgrades, 'collector of held strata waits', 'collectors of held strata wait')} (${labels.join('; ')})`;
  if (since === undefined) return `all else is done: ${held}; release them, or resume to end without them`;
  const { startable, released } = since;
  const [first, ...others] = released.map(heldName);
  const isReleased =
    first === undefined
      ? ''
      : `${others.length === 0 ? `${first} is` : `${released.length} strata are`} released: `;
  const waits = upgrades === 0 ? '' : `; ${held}`;
  return `${isReleased}${counted(startable, 'collector')} can start after a resume${waits}`;
}

function noEvidenceText({ wave, ended, setAside = 0 }: Extract<HoldCause, { kind: 'noEvidence' }>): string {
  const ends = ended.map(({ state, upgrades }) => `${upgrades} ${stateText(state)}`);
  if (setAside > 0) ends.push(`${setAside} held`);
  const endsNote = ends.length === 0 ? '' : ` (${ends.join(', ')})`;
  return `wave ${wave} has no evidence: none of its collectors was upgraded${endsNote}; it continues automatically once one of them is upgraded; ${setAside > 0 ? 'release them, ' : ''}resume to continue without evidence, or abort`;
}

/**
 * A wave's failures against its limit: `wave canary: 3 failures, 2 allowed (1 lost collector counts as 3)`, or `3 failures,
 * 2 allowed, not counting 7 acknowledged`. The weight is explained only without acknowledged failures, because it is unknown which of
 * those were lost.
 */
export function waveFailuresText(failures: WaveFailures): string {
  const { wave, failuresAllowed } = failures;
  return `wave ${wave}: ${counted(failures.failures, 'failure')}, ${failuresAllowed} allowed${weightText(failures)}`;
}

/** `4 failures now`, or `0 failures now, not counting 4 of held strata`. */
function failuresNowText(now: FailuresNow): string {
  const { failures, acknowledged, inHeldStrata } = now;
  const words = `${counted(failures, 'failure')} now`;
  if (inHeldStrata === 0) return `${words}${weightText(now)}`;
  const others = acknowledged > 0 ? ` and ${acknowledged} acknowledged` : '';
  return `${words}, not counting ${inHeldStrata} of held strata${others}`;
}

function weightText({ acknowledged, lost, lostWeight }: WaveFailures): string {
  if (acknowledged > 0) return `, not counting ${acknowledged} acknowledged`;
  if (lost === 0) return '';
  return ` (${counted(lost, 'lost collector counts', 'lost collectors count')} as ${lost * lostWeight})`;
}

/** Why a reading of the inventory is implausible. */
export const implausibleText = makeText<Implausible>({
  empty: ({ expected }) =>
    `the inventory is not plausible: it is empty, ${counted(expected, 'collector is', 'collectors are')} expected`,
  manyGone: ({ missing, members }) =>
    `the inventory is not plausible: it lacks ${missing} of ${members} collectors of the rollout`,
  short: ({ size, before }) =>
    `the inventory is not plausible: it lists ${counted(size, 'collector')}, ${before} before`,
});

// More names would hide the causes.
const unweighedShownMax = 3;

/** `8 fields are not weighed: app, shelf, zone, …`; empty if there is none. */
export function unweighedText(fields: readonly string[]): string {
  if (fields.length === 0) return '';
  const names = fields.slice(0, unweighedShownMax).join(', ');
  const more = fields.length > unweighedShownMax ? ', …' : '';
  return `${counted(fields.length, 'field of the collectors is', 'fields of the collectors are')} not weighed for what failures share: ${names}${more}`;
}

/** What failures have in common: `22 of 23 failures have osName=Windows* (22 of 66 there, 1 of 46 elsewhere)`. */
export function sharedAttributeText(shared: SharedAttribute): string {
  return `${sharingText(shared)} have ${attributeFigures(shared)}`;
}

/** That a collector has it, too: `shares osName=Windows* (22 of 66 there, 1 of 46 elsewhere) with 22 of 23 failures`. */
export function sharesText(shared: SharedAttribute): string {
  return `shares ${attributeFigures(shared)} with ${sharingText(shared)}`;
}

function attributeFigures({ attributes, failed, tried, elsewhere }: SharedAttribute): string {
  return `${formatAttributes(attributes)} (${failed} of ${tried} there, ${elsewhere.failed} of ${elsewhere.tried} elsewhere)`;
}

/** `22 of 23 failures` */
function sharingText({ failed, elsewhere, apartFromHeld, cause }: SharedAttribute): string {
  const all = failed + elsewhere.failed;
  const share = all === failed ? `all ${failed}` : `${failed} of ${all}`;
  const where = apartFromHeld === true ? ' outside of held groups' : '';
  const failures = `${cause?.of === 'retrying' ? 'failed attempts' : 'failures'}${where}`;
  const text = cause?.text ?? '';
  const ofCause = text === '' ? '' : ` with "${text}"`;
  return `${share} ${failures}${ofCause}`;
}
