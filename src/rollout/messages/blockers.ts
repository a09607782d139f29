import { assertNever } from '../../base/assert.ts';
import { someNames } from '../../base/names.ts';
import { singularOrPlural } from '../../base/singular-or-plural.ts';
import { formatDuration } from '../../base/time.ts';
import type { BlockerKind } from '../../base/vocabulary.ts';
import type { ShownBlocker } from '../../contract/admin/rollout-status.ts';
import type { ClosedBy } from '../calendar/calendar.ts';
import type { Blocker, WaveWaits } from '../decision/blocker.ts';
import { implausibleHoldAfterMs } from '../model/assess-inventory.ts';
import { accountText } from './account-texts.ts';
import { gateText } from './gates.ts';
import { rolloutReasonText, unreadableText } from './rollout-reasons.ts';
import { counted, makeText } from './sentences.ts';
import { implausibleText, stopSentences, waveFailuresText } from './stop-causes.ts';
import { stratumHeldText } from './stratum-reasons.ts';
import { upgradeReasonText } from './upgrade-reasons.ts';

/** A blocker as a sentence, without its `until`. */
export const blockerText = makeText<Blocker, BlockerKind>({
  ...stopSentences,
  planApproval: () => 'the plan waits for approval',
  held: ({ reason }) => `the rollout is held: ${rolloutReasonText(reason)}`,
  paused: ({ reason }) => `the rollout is paused: ${rolloutReasonText(reason)}`,
  outliersUnclear: ({ failures }) =>
    `${waveFailuresText(failures)}: nothing starts until the running upgrades show whether the other strata are healthy`,
  groupMoves: ({ label }) =>
    `the collectors with ${label} are being moved into the held group; this takes a moment, and nothing starts meanwhile`,
  inventory: ({ why, lastsMs, heldAfterMs }) => {
    const lasts = formatDuration(Math.round(lastsMs / 1_000) * 1_000);
    const then = heldAfterMs === null ? 'it is read again' : `held after ${formatDuration(heldAfterMs)}`;
    return `${implausibleText(why)}, for ${lasts}; ${then}`;
  },
  newerVersion: ({ version, readable }) => unreadableText({ kind: 'newer', version, readable }),
  account: ({ account }) => accountText(account),
  policyMissing: ({ rollout, policy }) =>
    `the config has no policy called ${policy}. Put it back until the rollout is over, or run \`upwave abort ${rollout}\``,
  storeReturned: ({ isLost, unconfirmed }) => {
    const why = isLost
      ? 'Redis lost its last writes'
      : unconfirmed === 0
        ? 'it is unknown whether Redis lost its last writes'
        : `${counted(unconfirmed, 'daemon has', 'daemons have')} not confirmed that Redis kept all writes`;
    return `after an outage of Redis no create request is sent until all earlier ones have arrived: ${why}`;
  },
  over: ({ reason }) => `the rollout is over: ${rolloutReasonText(reason)}`,
  withdrawing: ({ upgrades }) => `waiting upgrades are withdrawn (${counted(upgrades, 'upgrade')})`,
  watching: ({ upgrades }) => `running upgrades are watched to their end (${counted(upgrades, 'upgrade')})`,
  abandoning: ({ upgrades }) =>
    `${counted(upgrades, 'upgrade')} may still run in another account, which this daemon cannot poll; it gives them up when none of them can be running any more`,
  rollbackPlan: ({ why }) => {
    if (why === null) return 'the rollback is being planned';
    const waits = `the rollback waits: ${implausibleText(why)}`;
    if (why.kind === 'empty') return waits;
    return `${waits}; after ${formatDuration(implausibleHoldAfterMs)} it continues without the missing collectors`;
  },
  rollback: ({ rollback, state }) => `rollback ${rollback} is ${state}`,
  waveApproval: ({ wave }) => `wave ${wave} waits for approval`,
  soak: ({ wave }) => `wave ${wave} soaks`,
  lateJoiners: ({ wave, upgrades }) => `wave ${wave}: ${counted(upgrades, 'late joiner')} still upgrading`,
  soakCheck: ({ wave, silent, failedPolls }) => {
    if (failedPolls > 0) return `wave ${wave}: the poll after the soak got no answer`;
    if (silent > 0) return `wave ${wave}: ${counted(silent, 'collector')} silent after the soak`;
    return `wave ${wave}: its collectors are polled after the soak`;
  },
  gate: ({ wave, gate }) => `wave ${wave}: ${gateText(gate)}`,
  deferred: deferredText,
  waveOrder: ({ wave, waits }) =>
    `its wave ${wave} waits for: ${waits === null ? 'its turn' : waveWaitsText(waits)}`,
  retryNotDue: () => 'the next retry is not due yet',
  turn: () => 'is next in line',
  concurrency: ({ slots }) =>
    singularOrPlural(slots, 'the only slot is taken', `all ${slots} slots are taken`),
  stratumHeld: stratumHeldText,
  window: ({ timeZone, nextFreeze }) => outsideText(inZone(timeZone), nextFreeze),
  freeze: ({ reason, timeZone }) => `${closedText({ kind: 'freeze', reason })}${inZone(timeZone)}`,
  notBefore: () => closedText({ kind: 'notBefore' }),
  pace: ({ perHour, wave }) =>
    `the pace${wave === null ? '' : ` of wave ${wave}`} allows ${counted(perHour, 'start')} an hour`,
  windowTooShort: ({ timeZone, expectMs }) =>
    `the window${inZone(timeZone)} closes sooner than an upgrade is expected to take (${formatDuration(expectMs)})`,
  cap: ({ label, cap }) => `${label}: all slots of this cap (${cap}) are taken`,
});

export function showBlocker(blocker: Blocker): ShownBlocker {
  return { kind: blocker.kind, reason: blockerText(blocker), until: blocker.until };
}

/** A wave whose soak has lasted long enough; its blocker names what is missing. */
export const soakedText = 'soak over, last check';

/** What a wave that has not started waits for: `gate of canary, approval`. */
export function waveWaitsText({ gateOf, approval }: WaveWaits): string {
  return [...(gateOf === null ? [] : [`gate of ${gateOf}`]), ...(approval ? ['approval'] : [])].join(', ');
}

function deferredText({ wave, upgrades, known }: Extract<Blocker, { kind: 'deferred' }>): string {
  const collectors = counted(upgrades, 'deferred collector');
  if (wave === null) return `the rollout waits for ${collectors}`;
  const names = known.map(({ name, reason }) => `${name} (${upgradeReasonText(reason)})`);
  const who = known.length === upgrades ? someNames(names) : names.slice(0, 1).join('');
  const words = `wave ${wave} waits for ${collectors}${who === '' ? '' : `: ${who}`}`;
  return `${words}; none of its collectors is upgraded yet`;
}

function inZone(timeZone: string): string {
  return timeZone === '' ? '' : ` in ${timeZone}`;
}

/** @param nextFreeze the reason of the freeze in which the next window begins, which may be empty */
function outsideText(zone: string, nextFreeze: string | undefined): string {
  const outside = `outside the window${zone}`;
  if (nextFreeze === undefined) return outside;
  return `${outside}; the next window begins in a freeze${nextFreeze === '' ? '' : `: ${nextFreeze}`}`;
}

/** Why upgrades may not start now; empty if they may. */
export function closedText(closedBy: ClosedBy | null): string {
  if (closedBy === null) return '';
  switch (closedBy.kind) {
    case 'window':
      return outsideText('', closedBy.nextFreeze);
    case 'notBefore':
      return 'too early for this wave (notBefore)';
    case 'freeze':
      return closedBy.reason === '' ? 'frozen' : `frozen: ${closedBy.reason}`;
    default:
      return assertNever(closedBy);
  }
}
