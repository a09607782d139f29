import type { ShownRollback } from '../../contract/admin/verbs.ts';
import type { Awaited, FailedSummary, Refusal } from '../verbs/refusal.ts';
import { accountWords } from './accounts.ts';
import { noTargetWords } from './exclusions.ts';
import { driftWords } from './plans.ts';
import { rolloutReasonWords, unreadableWords } from './rollout-reasons.ts';
import { stillRunningWords } from './scans.ts';
import { makeWords, stateWords } from './sentences.ts';
import { implausibleWords } from './stop-causes.ts';

/** Why a verb is refused, and what to do instead. */
export const refusalWords = makeWords<Refusal>({
  foreign: ({ account }) => accountWords(account),
  recordUnreadable: ({ unreadable }) => unreadableWords(unreadable),
  over: ({ state }) => `it is over (${stateWords(state)})`,
  rollingBack: ({ rollback }) =>
    `it is rolling back: ${rollback === null ? 'its rollback has not started' : `see its rollback ${rollback}`}`,
  alreadyHeld: () => 'it is held already, so nothing starts; resume or abort it',
  notStarted: () => 'it waits for approval, so nothing has started: approve or abort it',
  notStopped: ({ state }) => `it is ${stateWords(state)}, and only a paused or held rollout can resume`,
  otherHold: ({ state, hold, asked, reason }) =>
    `the current ${state === 'paused' ? 'pause' : 'hold'} is ${hold}, not ${asked}: ${rolloutReasonWords(reason)}`,
  buildHeld: ({ build, reason }) => `build ${build} is held (${reason}); release ${build} first`,
  otherPlan: ({ planHash, asked, awaited }) =>
    `its plan is ${planHash}, not ${asked}; ${awaitedWords(awaited)}`,
  noApprovalNeeded: ({ awaited }) => `its plan needs no approval; ${awaitedWords(awaited)}`,
  unknownWave: ({ asked, awaited }) => `it has no wave ${asked}; ${awaitedWords(awaited)}`,
  waveNotAwaiting: ({ asked, awaited }) =>
    `wave ${asked} does not wait for approval; ${awaitedWords(awaited)}`,
  notSoaking: ({ asked, soaking }) =>
    soaking === null ? 'none of its waves is soaking' : `wave ${soaking} is soaking now, not ${asked}`,
  isRollback: ({ rollbackOf }) =>
    `it is itself the rollback of ${rollbackOf}; with --now it starts outside its windows`,
  nothingUpgraded: ({ isOver }) => `none of its collectors was upgraded${isOver ? '' : '; abort it'}`,
  nothingFailed: () => 'none of its upgrades has failed',
  moreFailed: ({ failed, asked }) => `${failed} of its upgrades have failed by now, not ${asked}`,
  noneOfClass: ({ asked, failed }) =>
    `none of its upgrades failed${asked === null ? '' : ` as ${asked}`}${failed === null ? '' : `; it has ${failedWords(failed)}`}`,
  placeTaken: ({ active }) => `it is over, and ${active} is active`,
  stillRunning: stillRunningWords,
  fleetUnread: ({ reason }) => `the fleet could not be read again: ${reason}`,
  noTarget: ({ why }) => `there is no target any more: ${noTargetWords(why)}; abort it`,
  inventory: ({ why }) =>
    `${implausibleWords(why)}; approve again later, or, if they were removed on purpose, abort it and start again`,
  planMoved: ({ from, to, drift }) =>
    `the fleet has changed since plan ${from} was made: ${driftWords(drift)}; check plan ${to}, and approve it`,
  changedMeanwhile: () => 'it changed while the fleet was read again: check it, and approve again',
  rollbackUnknown: ({ reason }) =>
    `${reason}. Nothing was changed. Pause the rollout, and repeat the rollback when the builds are known`,
  rollbackUnconfirmed: ({ shown, now }) =>
    shown === null
      ? `the rollback was not confirmed: ${shownWords(now)}; repeat it with these numbers`
      : `the rollback has changed since it was shown (${shownWords(shown)}): now ${shownWords(now)}; check it again`,
});

function awaitedWords(awaited: Awaited | null): string {
  if (awaited === null) return 'nothing waits for approval';
  return `${awaited.kind === 'plan' ? `plan ${awaited.planHash}` : `wave ${awaited.wave}`} waits for approval`;
}

function shownWords({ collectors, leftBehind }: ShownRollback): string {
  return `${collectors} go back, ${leftBehind} stay`;
}

/** `2 permanent, 1 timedOut; by reason: 2 "no space", 1 "no end in 35m"`. */
function failedWords({ classes, reasons, moreReasons }: FailedSummary): string {
  const byClass = classes.map(({ failureClass, count }) => `${count} ${failureClass}`).join(', ');
  const byReason = reasons.map(({ reason, count }) => `${count} "${reason}"`).join(', ');
  const more = moreReasons > 0 ? `, and ${moreReasons} more reasons` : '';
  return `${byClass}; by reason: ${byReason}${more}`;
}
