import { showCount } from '../../base/singular-or-plural.ts';
import type { ShownRollback } from '../../contract/admin/verbs.ts';
import type { Awaited, FailedSummary, Refusal } from '../verbs/refusal.ts';
import { accountText } from './account-texts.ts';
import { noTargetText } from './exclusions.ts';
import { driftText } from './plans.ts';
import { rolloutReasonText, unreadableText } from './rollout-reasons.ts';
import { stillRunningText } from './scans.ts';
import { makeText, stateText } from './sentences.ts';
import { implausibleText } from './stop-causes.ts';

/** Why a verb is refused, and what to do instead. */
export const refusalText = makeText<Refusal>({
  foreign: ({ account }) => accountText(account),
  recordUnreadable: ({ unreadable }) => unreadableText(unreadable),
  over: ({ state }) => `it is over (${stateText(state)})`,
  rollingBack: ({ rollback }) =>
    `it is rolling back: ${rollback === null ? 'its rollback has not started' : `see its rollback ${rollback}`}`,
  alreadyHeld: () => 'it is held already, so nothing starts; resume or abort it',
  notStarted: () => 'it waits for approval, so nothing has started: approve or abort it',
  notStopped: ({ state }) => `it is ${stateText(state)}, and only a paused or held rollout can resume`,
  otherHold: ({ state, hold, asked, reason }) =>
    `the current ${state === 'paused' ? 'pause' : 'hold'} is ${hold}, not ${asked}: ${rolloutReasonText(reason)}`,
  buildHeld: ({ build, reason }) => `build ${build} is held (${reason}); release ${build} first`,
  otherPlan: ({ planHash, asked, awaited }) =>
    `its plan is ${planHash}, not ${asked}; ${awaitedText(awaited)}`,
  noApprovalNeeded: ({ awaited }) => `its plan needs no approval; ${awaitedText(awaited)}`,
  unknownWave: ({ asked, awaited }) => `it has no wave ${asked}; ${awaitedText(awaited)}`,
  waveNotAwaiting: ({ asked, awaited }) =>
    `wave ${asked} does not wait for approval; ${awaitedText(awaited)}`,
  notSoaking: ({ asked, soaking }) =>
    soaking === null ? 'none of its waves is soaking' : `wave ${soaking} is soaking now, not ${asked}`,
  isRollback: ({ rollbackOf }) =>
    `it is itself the rollback of ${rollbackOf}; with --now it starts outside its windows`,
  nothingUpgraded: ({ isOver }) => `none of its collectors was upgraded${isOver ? '' : '; abort it'}`,
  nothingFailed: () => 'none of its upgrades has failed',
  moreFailed: ({ failed, asked }) =>
    `${showCount(failed)} of its upgrades have failed by now, not ${showCount(asked)}`,
  noneOfCause: ({ asked, failed }) =>
    `none of its upgrades failed${asked === null ? '' : ` as ${asked}`}${failed === null ? '' : `; it has ${failedText(failed)}`}`,
  noneOfCollectors: () => 'none of the chosen collectors has failed in it',
  placeTaken: ({ active }) => `it is over, and ${active} is active`,
  stillRunning: stillRunningText,
  fleetUnread: ({ reason }) => `the fleet could not be read again: ${reason}`,
  noTarget: ({ why }) => `there is no target any more: ${noTargetText(why)}; abort it`,
  inventory: ({ why }) =>
    `${implausibleText(why)}; approve again later, or, if they were removed on purpose, abort it and start again`,
  planMoved: ({ from, to, drift }) =>
    `the fleet has changed since plan ${from} was made: ${driftText(drift)}; check plan ${to}, and approve it`,
  changedMeanwhile: () => 'it changed while the fleet was read again: check it, and approve again',
  rollbackUnknown: ({ reason }) =>
    `${reason}. Nothing was changed. Pause the rollout, and repeat the rollback when the builds are known`,
  rollbackUnconfirmed: ({ shown, now }) =>
    shown === null
      ? `the rollback was not confirmed: ${previewedText(now)}; repeat it with these numbers`
      : `the rollback has changed since it was shown (${previewedText(shown)}): now ${previewedText(now)}; check it again`,
});

function awaitedText(awaited: Awaited | null): string {
  if (awaited === null) return 'nothing waits for approval';
  return `${awaited.kind === 'plan' ? `plan ${awaited.planHash}` : `wave ${awaited.wave}`} waits for approval`;
}

function previewedText({ collectors, leftBehind }: ShownRollback): string {
  return `${collectors} go back, ${leftBehind} stay`;
}

/** `2 permanent, 1 timedOut; by reason: 2 "no space", 1 "no end in 35m"`. */
function failedText({ classes, reasons, moreReasons }: FailedSummary): string {
  const byClass = classes.map(({ failureClass, count }) => `${count} ${failureClass}`).join(', ');
  const byReason = reasons.map(({ reason, count }) => `${count} "${reason}"`).join(', ');
  const more = moreReasons > 0 ? `, and ${moreReasons} more reasons` : '';
  return `${byClass}; by reason: ${byReason}${more}`;
}
