import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { EtaUnknownReason } from '../../base/vocabulary.ts';
import type { ApiBudgetStatus, Eta, WaitsFor } from '../../contract/admin/rollout-status.ts';
import { calendarOf, longestOpening } from '../calendar/calendar.ts';
import { expectedMs, nextOpening } from '../decision/admission.ts';
import { type AssessedView, type AssessedWave, countUpgradesIn, hasBegun } from '../decision/assess.ts';
import { soakEndsAtOf } from '../decision/soak.ts';
import { deferredUntil, lastDeferredUntil } from '../decision/wave-blockers.ts';
import { isForeign } from '../model/account.ts';
import type { DurationSpread } from '../model/log-normal.ts';
import { isRolloutEnd, type RolloutView } from '../model/rollout.ts';
import { isEnd, isRunning, isUnderWay } from '../model/upgrade.ts';
import { countIn } from '../model/upgrade-figures.ts';
import { type Estimate, estimateRemainder, limitsOfWaves, spreadOf, type WaveRemainder } from './estimate.ts';
import { inFlightOf, learnedOf } from './learned-durations.ts';

/** When a rollout and its waves are expected to end. */
export interface Forecast {
  /** null for a rollout that has ended. */
  readonly eta: Eta | null;
  /**
   * When each wave is expected to begin and to end, by index; null: it has passed. Shorter where that depends on an approval,
   * and empty while the end is unknown.
   */
  readonly waves: ReadonlyArray<{ readonly from: EpochMs; readonly to: EpochMs } | null>;
}

/** The only place that computes the ETA. */
export function forecast(view: AssessedView, now: EpochMs, api: ApiBudgetStatus): Forecast {
  if (view.rollout.endedAt !== null) return { eta: null, waves: [] };
  const reason = unknownReasonOf(view, api);
  if (reason !== undefined) return { eta: unknown(reason), waves: [] };
  const estimator = estimatorOf(view, now, api);
  const eta = estimateEta(view, now, estimator);
  const held = sumOf(view.assessed, ({ assessment }) => assessment.setAside);
  return {
    eta: eta.kind === 'unknown' || held === 0 ? eta : { ...eta, held },
    waves: wavesOf(view, estimator),
  };
}

/**
 * The end as one instant, for metrics: deferred collectors may wait for hours, so they count only where no others remain.
 * null: it is unknown, or depends on an approval.
 */
export function expectedEndOf(eta: Eta | null): EpochMs | null {
  if (eta === null || !('at' in eta)) return null;
  return eta.kind === 'atTheLatest' ? (eta.othersAt ?? eta.at) : eta.at;
}

function unknownReasonOf(
  { rollout, account, isPolicyMissing }: RolloutView,
  api: ApiBudgetStatus,
): EtaUnknownReason | undefined {
  const { state, inventory } = rollout;
  if (rollout.unreadable?.kind === 'newer') return 'newerVersion';
  if (isRolloutEnd(state)) return 'ending';
  if (isForeign(account)) return 'account';
  if (isPolicyMissing) return 'policyMissing';
  if (state === 'held' || state === 'paused' || state === 'rollingBack') return state;
  if (api.outage?.kind === 'serviceDown') return 'serviceDown';
  return inventory.implausible === null ? undefined : 'inventory';
}

function wavesOf(view: AssessedView, { from, untilApproval }: Estimator): Forecast['waves'] {
  const { waveEnds } = untilApproval;
  return waveEnds.map((to, wave) =>
    view.rollout.waves[wave]?.state === 'passed' ? null : { from: waveEnds[wave - 1] ?? from, to },
  );
}

type Estimator = ReturnType<typeof estimatorOf>;

/** How to estimate the remaining waves, from the first instant at which something can start or end. */
function estimatorOf(view: AssessedView, now: EpochMs, api: ApiBudgetStatus) {
  const { rollout } = view;
  // The end of upgrades in flight is also not noticed before a pause is over.
  const from = Math.max(now, api.outage?.until ?? now, idleUntil(view) ?? now);
  const policy = { ...rollout.policy, ...calendarOf(rollout) };
  const startNeedsMs = startNeedsMsOf(view);
  const { fleetSize } = rollout.plan;
  const requestsPerSecond = api.requestsPerSecondNow;
  const learned = learnedOf(view, now);
  const given = { requestsPerSecond, fleetSize, learned, startNeedsMs };
  const remainders = remaindersOf(view, from, spreadOf(policy, learned));
  const estimate = (of: readonly WaveRemainder[], begin: EpochMs): Estimate =>
    estimateRemainder(of, policy, { ...given, from: begin });
  const approval = nextApprovalOf(view);
  return {
    ...{ from, policy, startNeedsMs, remainders, estimate, approval },
    /** Of all waves where none needs an approval. */
    untilApproval: estimate(remainders.slice(0, approval?.wave), from),
  };
}

function estimateEta(view: AssessedView, now: EpochMs, estimator: Estimator): Eta {
  const { rollout } = view;
  const { from, policy, startNeedsMs, remainders, estimate, approval, untilApproval } = estimator;
  const longestMs = longestOpening(policy, '', from);
  const isTooShort = longestMs !== null && longestMs > 0 && longestMs < startNeedsMs;
  const noRoom = unknown(isTooShort ? 'windowTooShort' : 'noWindow');
  if (approval !== undefined) {
    const { wave, isDue } = approval;
    const approvalAt = isDue ? from : untilApproval.endsAt;
    if (approvalAt === null) return noRoom;
    const { endsAt, ...figures } = estimate(remainders.slice(wave), approvalAt);
    if (endsAt === null) return noRoom;
    return {
      kind: 'afterApproval',
      approvalAt: isDue ? null : approvalAt,
      durationMs: endsAt - approvalAt,
      ...figuresOf(figures),
    };
  }
  // A wave without evidence is held once its deferred collectors are given up.
  const isOver = rollout.waves.every(({ state }) => state === 'passed');
  if (!isOver && waitsForOf(view, now)?.kind === 'collectors') return unknown('collectors');
  if (isDeferredAlone(view)) return atTheLatest(view, untilApproval.endsAt);
  const { endsAt, ...figures } = untilApproval;
  if (endsAt === null) return noRoom;
  const until = lastDeferredUntil(view);
  if (until !== null && until > endsAt) return { kind: 'atTheLatest', at: until, othersAt: endsAt };
  return { kind: 'at', at: endsAt, ...figuresOf(figures) };
}

function figuresOf({ plusMinusMs, requests, overdue }: Omit<Estimate, 'endsAt'>) {
  return { plusMinusMs, requests, ...(overdue > 0 && { overdue }) };
}

/** How long a window has to be open for a start in any stratum that waits. The slowest of them ends last. */
function startNeedsMsOf(view: AssessedView): DurationMs {
  const { expectMs } = view.rollout.policy.upgrade;
  const waiting = view.strata.filter((each) => each.waiting > 0);
  return Math.max(
    ...(waiting.length === 0 ? [expectMs] : waiting.map(({ stratum }) => expectedMs(view, stratum))),
  );
}

/** When the next retry is due, if nothing else is running or can start. */
function idleUntil({ slotsTaken, candidates, nextRetryAt }: AssessedView): EpochMs | null {
  const isAnyReady = candidates.some(({ retries, pending }) => retries.length + pending.length > 0);
  return slotsTaken > 0 || isAnyReady ? null : nextRetryAt;
}

/** The next approval that the rollout needs, by the index of its first wave; undefined if it needs none. */
function nextApprovalOf({ rollout }: AssessedView) {
  if (rollout.state === 'awaitingApproval') return { wave: 0, isDue: true };
  const wave = rollout.waves.findIndex(
    (each, index) =>
      !hasBegun(each) &&
      each.size > 0 &&
      each.approvedAt === null &&
      rollout.policy.waves[index]?.approval === true,
  );
  return wave < 0 ? undefined : { wave, isDue: rollout.waves[wave]?.state === 'awaitingApproval' };
}

function remaindersOf(view: AssessedView, from: EpochMs, spread: DurationSpread): readonly WaveRemainder[] {
  const { policy, rollback } = view.rollout;
  const limits = rollback.anyTime
    ? []
    : limitsOfWaves(
        policy,
        view.assessed.map(({ rule, summary: { counts }, assessment: { remaining } }) => {
          return { rule, succeeded: counts.succeeded, starts: remaining - countIn(counts, isUnderWay) };
        }),
      );
  return view.assessed.map((each, index) => {
    const { wave, assessment } = each;
    const { remaining: upgrades } = assessment;
    const share = upgrades / Math.max(1, wave.size + wave.joined);
    const mayStart = upgrades > countIn(each.summary.counts, isUnderWay);
    const isRetrying = each === view.current && each.summary.counts.retrying > 0;
    const waitMs = isRetrying && view.nextRetryAt !== null ? Math.max(0, view.nextRetryAt - from) : undefined;
    const soakMs = remainingSoakMs(each, from);
    const retry = waitMs === undefined ? {} : { retryWaitMs: waitMs };
    const running = inFlightOf(view, { wave: index, from, spread });
    const chain = Math.ceil(wave.chain * share);
    return { upgrades, mayStart, chain, soakMs, running, ...retry, ...limits[index] };
  });
}

function remainingSoakMs(assessed: AssessedWave, from: EpochMs): DurationMs {
  if (assessed.wave.state === 'passed' || assessed.wave.size === 0) return 0;
  const endsAt = soakEndsAtOf(assessed);
  return endsAt === null ? assessed.rule.soakMs : Math.max(0, endsAt - from);
}

function atTheLatest(view: AssessedView, otherwise: EpochMs | null): Eta {
  const until = lastDeferredUntil(view);
  if (until === null) return unknown('collectors');
  return { kind: 'atTheLatest', at: Math.max(until, otherwise ?? until), othersAt: null };
}

function unknown(reason: EtaUnknownReason): Eta {
  return { kind: 'unknown', reason };
}

/** What the rollout waits for; null while it makes progress by itself, which includes a soak. */
export function waitsForOf(view: AssessedView, now: EpochMs): WaitsFor | null {
  const { current } = view;
  const { state, inventory } = view.rollout;
  if (state !== 'running' || countUpgradesIn(view, isRunning) > 0) return null;
  if (inventory.implausible !== null) return { kind: 'inventory', until: null };
  if (current === undefined && isDeferredAlone(view)) {
    return { kind: 'collectors', until: lastDeferredUntil(view) };
  }
  if (current?.assessment.settled) {
    const { wave, assessment } = current;
    const isAwaited = assessment.evidence === 'awaited' && !wave.acceptedWithoutEvidence;
    return hasBegun(wave) && isAwaited ? { kind: 'collectors', until: deferredUntil(view, current) } : null;
  }
  const opening = nextOpening(view, now);
  return opening === undefined ? null : { kind: 'window', until: opening };
}

/** True if all upgrades that have not ended are deferred. */
function isDeferredAlone(view: AssessedView): boolean {
  const deferred = countUpgradesIn(view, (state) => state === 'deferred');
  return deferred > 0 && deferred === countUpgradesIn(view, (state) => !isEnd(state));
}
