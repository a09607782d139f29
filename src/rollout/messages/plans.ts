import { someNames } from '../../base/names.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { StartPreview } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { ExpectedFailures, ShownLeftOut, WorkEstimate } from '../../contract/admin/status-parts.ts';
import type { PlanDrift } from '../model/rollout.ts';
import { counted, sentence, stateText } from './sentences.ts';

/** `plan 7f3a: 12 collectors to 19.455-2 (canary 3, rest 9)`. */
export function planText(plan: {
  readonly planHash: string;
  readonly planned: number;
  readonly targetBuild: string;
  readonly waves: ReadonlyArray<{ readonly name: string; readonly size: number }>;
}): string {
  const { planHash, planned, targetBuild, waves } = plan;
  const sizes = waves.map(({ name, size }) => `${name} ${showCount(size)}`).join(', ');
  return `plan ${planHash}: ${counted(planned, 'collector')} to ${targetBuild} (${sizes})`;
}

// A line has room for this many builds.
const backToShownMax = 3;

/** The build of a rollout. A rollback has as many as its collectors had. */
export function targetText({ targetBuild, backTo }: Pick<RolloutStatus, 'targetBuild' | 'backTo'>): string {
  if (backTo.length === 0) return targetBuild;
  const builds = backTo.slice(0, backToShownMax).join(', ');
  return backTo.length > backToShownMax ? `${builds}, … (${showCount(backTo.length)} builds)` : builds;
}

/** Whom a plan leaves out, the most first: `20 left out: runs the target build already.` */
export function leftOutTexts(leftOut: readonly ShownLeftOut[]): readonly string[] {
  return leftOut
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => sentence(`${showCount(count)} left out: ${reason}`));
}

/** The builds that collectors had: `19.441-2, 19.456-3`, or also `and others`. */
export function fromText({
  fromBuilds,
  fromOthers,
}: Pick<RolloutStatus, 'fromBuilds' | 'fromOthers'>): string {
  return `${fromBuilds.join(', ')}${fromOthers > 0 ? ' and others' : ''}`;
}

/** What an operator checks before the approval of a plan, beside its size: the builds it replaces, and whom it leaves out. */
export function planFacts({
  fromBuilds,
  fromOthers,
  leftOut,
  planned,
  expectedFailures,
}: RolloutStatus): readonly string[] {
  const from =
    fromBuilds.length === 0 ? [] : [`The collectors run ${fromText({ fromBuilds, fromOthers })} now.`];
  const expected = expectedFailures === null ? [] : expectedTexts(expectedFailures, planned);
  return [...from, ...expected, ...leftOutTexts(leftOut.filter(({ kind }) => kind !== 'failedBefore'))];
}

// More would hide what the plan does.
const givenUpMax = 3;

/**
 * What an operator is warned of before an approval: collectors failed on its build before, or it was given up before.
 * @param past other rollouts, newest first
 */
export function planWarnings(
  { id, targetBuild, leftOut, expectedFailures }: RolloutStatus,
  past: readonly RolloutStatus[],
): readonly string[] {
  const givenUp = past.filter(
    (each) =>
      each.id !== id &&
      each.kind === 'upgrade' &&
      each.targetBuild === targetBuild &&
      ['aborted', 'rollingBack', 'rolledBack'].includes(each.state),
  );
  return [
    ...leftOutTexts(leftOut.filter(({ kind }) => kind === 'failedBefore')),
    ...(expectedFailures === null ? [] : expectedWarnings(expectedFailures)),
    ...givenUp.slice(0, givenUpMax).map((each) => `${earlierText({ ...each, rollout: each.id })}.`),
  ];
}

/** That a rollout to this build was given up: `web-20261121-1 to this build was aborted by alice: CHG-9`. */
export function earlierText({
  rollout,
  state,
  reason,
}: Pick<RolloutStatus, 'state' | 'reason'> & { readonly rollout: string }): string {
  const isOver = state !== 'rollingBack';
  const colon = isOver && reason.startsWith('by ') ? '' : ':';
  const why = reason === '' ? '' : `${colon} ${reason}`;
  return `${rollout} to this build ${isOver ? 'was' : 'is'} ${stateText(state)}${why}`;
}

/** `50 at a time; soak canary 30m` */
export function startLimitsText({ concurrency, waves }: Pick<StartPreview, 'concurrency' | 'waves'>): string {
  const soaks = waves.filter(({ size, soakMs }) => size > 0 && soakMs > 0);
  const soak = soaks.map(({ name, soakMs }) => `${name} ${formatDuration(soakMs)}`).join(', ');
  return `${showCount(concurrency)} at a time${soak === '' ? '' : `; soak ${soak}`}`;
}

/** How long a plan takes: `about 2h13m (±30m) and 1,200 requests`. */
export function durationText({ durationMs, plusMinusMs, requests }: WorkEstimate): string {
  if (durationMs === null) return `about ${counted(requests, 'request')}, and does not fit its windows`;
  return `about ${formatDuration(durationMs)} (±${formatDuration(plusMinusMs)}) and ${counted(requests, 'request')}`;
}

/** Which planned collectors a start upgrades again: `3 of 12 collectors failed before on this build, and are retried`. */
export function retriedText({ failedBefore, planned }: StartPreview): string {
  return `${showCount(failedBefore)} of ${counted(planned, 'collector')} failed before on this build, and ${singularOrPlural(failedBefore, 'is', 'are')} retried`;
}

/** When the upgrades of a started plan begin. */
export function startText(
  { approval, window: { isOpen, until, reason } }: Pick<StartPreview, 'approval' | 'window'>,
  showAt: (at: EpochMs) => string,
): string {
  const waits = approval ? 'The plan then waits for your approval.' : '';
  if (isOpen) return approval ? waits : 'Upgrades start immediately.';
  const opens = until === null ? 'when it opens' : `when it opens, at ${showAt(until)}`;
  const start = `The window is closed now (${reason}).`;
  return approval
    ? `${waits} ${start} Approved upgrades start ${opens}.`
    : `${start} Upgrades start ${opens}.`;
}

/**
 * How many are expected to fail, and which strata that failed before are tried first:
 * `About 14 of 1,023 collectors are expected to fail, judging by 4,210 upgrades in ended rollouts.`
 */
export function expectedTexts(expected: ExpectedFailures, planned: number): readonly string[] {
  const { failures, tried } = expected;
  const whom = `${aboutCount(failures)} of ${counted(planned, 'collector')}`;
  const are = singularOrPlural(Math.max(1, Math.round(failures)), 'is', 'are');
  return [
    sentence(`${whom} ${are} expected to fail, judging by ${counted(tried, 'upgrade')} in ended rollouts`),
    ...riskiestTexts(expected, true),
  ];
}

/** Waves that would exceed their limits, and strata that failed before and that the first wave leaves out. */
export function expectedWarnings(expected: ExpectedFailures): readonly string[] {
  return [
    ...expected.waves
      .filter(({ failures, allowed }) => Math.round(failures) > allowed)
      .map(({ name, failures, allowed }) => {
        const count = `${aboutCount(failures)} ${singularOrPlural(Math.round(failures), 'failure', 'failures')}`;
        return sentence(
          `wave ${name} is expected to exceed its limit: ${count}, ${showCount(allowed)} allowed`,
        );
      }),
    ...riskiestTexts(expected, false),
  ];
}

function riskiestTexts({ waves, riskiest }: ExpectedFailures, areTried: boolean): readonly string[] {
  const wave = `wave ${waves[0]?.name ?? ''} ${areTried ? 'includes' : 'leaves out'}`;
  return riskiest
    .filter(({ isTriedFirst }) => isTriedFirst === areTried)
    .map(({ label, tried, failed }) =>
      sentence(`${wave} ${label}, where ${showCount(failed)} of ${showCount(tried)} failed before`),
    );
}

function aboutCount(count: number): string {
  return Math.round(count) === 0 ? 'fewer than 1' : `about ${showCount(Math.round(count))}`;
}

/** How a plan has changed since it was shown: `2 joined (web-1, web-2), 1 left (db-3)`. */
export function driftText({ joined, left, change }: PlanDrift): string {
  return [
    change.target === null ? '' : `the target is ${change.target} now`,
    joined === 0 ? '' : `${joined} joined (${someNames(change.joined, joined)})`,
    left === 0 ? '' : `${left} left (${someNames(change.left, left)})`,
    joined + left === 0 ? 'its waves changed' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Why a plan may have collectors that an operator holds. */
export function holdsUnknownText(why = ''): string {
  return `not known here${why === '' ? '' : `: ${why}`}. \`upwave start POLICY\` shows the plan with the holds of operators`;
}

/** A start is refused: the plan is not the one that was shown (P15). */
export function otherPlanText(asked: string, now: Parameters<typeof planText>[0]): string {
  return `the plan is no longer ${asked}; it is now ${planText(now)}`;
}
