import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { EtaUnknownReason } from '../../base/vocabulary.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { nextOpening } from '../decision/admission.ts';
import { type AssessedView, type AssessedWave, hasBegun, total } from '../decision/assess.ts';
import { soakEndsAtOf } from '../decision/soak.ts';
import { deferredUntil, lastDeferredUntil } from '../decision/wave-blockers.ts';
import { isRolloutEnd, type RolloutView } from '../model/rollout.ts';
import { isEnd, isRunning } from '../model/upgrade.ts';
import type { ApiBudgetStatus } from './api-budget-status.ts';
import { type Estimate, estimateRemainder, type WaveRemainder } from './estimate.ts';
import { learnedOf } from './learned-durations.ts';

/** When a rollout is expected to end, as far as that can be known (P16). */
export type Eta =
  /** Pauses that are known of included. */
  | ({ readonly kind: 'at'; readonly at: EpochMs } & EtaFigures)
  /** It depends on a person, so there is no instant: how long it takes from the approval on. */
  | ({
      readonly kind: 'afterApproval';
      /** When the approval is expected to be waited for; null: it is waited for now. */
      readonly approvalAt: EpochMs | null;
      readonly durationMs: DurationMs;
    } & EtaFigures)
  /** Only deferred collectors remain: the last of them is given up then. */
  | { readonly kind: 'atTheLatest'; readonly at: EpochMs }
  | { readonly kind: 'unknown'; readonly reason: EtaUnknownReason };

type EtaFigures = Pick<Estimate, 'plusMinusMs' | 'requests'>;

/** The one place that says when a rollout ends; null for one that has ended. */
export function etaOf(view: AssessedView, now: EpochMs, api: ApiBudgetStatus): Eta | null {
  if (view.rollout.endedAt !== null) return null;
  const reason = unknownReasonOf(view, api);
  return reason === undefined ? estimateEta(view, now, api) : unknown(reason);
}

function unknownReasonOf(
  { rollout, account }: RolloutView,
  api: ApiBudgetStatus,
): EtaUnknownReason | undefined {
  const { state, doubt } = rollout;
  if (rollout.unreadable?.kind === 'newer') return 'newerVersion';
  if (isRolloutEnd(state)) return 'ending';
  if (account !== undefined && account.kind !== 'own') return 'account';
  if (state === 'held' || state === 'paused' || state === 'rollingBack') return state;
  if (api.outage?.kind === 'serviceDown') return 'serviceDown';
  return doubt === undefined ? undefined : 'inventory';
}

function estimateEta(view: AssessedView, now: EpochMs, api: ApiBudgetStatus): Eta {
  const { rollout } = view;
  const learned = learnedOf(view);
  // Upgrades in flight are not seen to end before a pause is over, either.
  const from = Math.max(now, api.outage?.until ?? now, nothingBefore(view) ?? now);
  const remainders = remaindersOf(view, from);
  const policy = { ...rollout.policy, ...calendarOf(rollout) };
  const given = { requestsPerSecond: api.requestsPerSecondNow, fleetSize: rollout.fleetSize, learned };
  const estimate = (of: readonly WaveRemainder[], begin: EpochMs): Estimate =>
    estimateRemainder(of, policy, { ...given, from: begin });
  const approval = nextApprovalOf(view);
  if (approval !== undefined) {
    const { wave, isWaitedFor } = approval;
    const approvalAt = isWaitedFor ? from : estimate(remainders.slice(0, wave), from).endsAt;
    if (approvalAt === null) return unknown('noWindow');
    const { endsAt, plusMinusMs, requests } = estimate(remainders.slice(wave), approvalAt);
    if (endsAt === null) return unknown('noWindow');
    return {
      kind: 'afterApproval',
      approvalAt: isWaitedFor ? null : approvalAt,
      durationMs: endsAt - approvalAt,
      plusMinusMs,
      requests,
    };
  }
  // A wave that shows nothing yet is held if its deferred collectors are given up.
  const isOver = rollout.waves.every(({ state }) => state === 'passed');
  if (!isOver && waitsForOf(view, now)?.kind === 'collectors') return unknown('collectors');
  if (isDeferredAlone(view)) return atTheLatest(view, estimate(remainders, from).endsAt);
  const { endsAt, plusMinusMs, requests } = estimate(remainders, from);
  return endsAt === null ? unknown('noWindow') : { kind: 'at', at: endsAt, plusMinusMs, requests };
}

/** When the next retry is due, while all else has ended: nothing starts before. */
function nothingBefore({ slotsTaken, candidates, nextRetryAt }: AssessedView): EpochMs | null {
  const isAnyReady = candidates.some(({ retries, pending }) => retries.length + pending.length > 0);
  return slotsTaken > 0 || isAnyReady ? null : nextRetryAt;
}

interface Approval {
  /** Index of the first wave that it is for. */
  readonly wave: number;
  readonly isWaitedFor: boolean;
}

/** The next approval without which the rollout does not go on to its end; undefined: there is none. */
function nextApprovalOf({ rollout }: AssessedView): Approval | undefined {
  if (rollout.state === 'awaitingApproval') return { wave: 0, isWaitedFor: true };
  const wave = rollout.waves.findIndex(
    (each, index) =>
      !hasBegun(each) &&
      each.size > 0 &&
      each.approvedAt === null &&
      rollout.policy.waves[index]?.approval === true,
  );
  return wave < 0 ? undefined : { wave, isWaitedFor: rollout.waves[wave]?.state === 'awaitingApproval' };
}

function remaindersOf(view: AssessedView, from: EpochMs): readonly WaveRemainder[] {
  return view.assessed.map((each) => {
    const { wave, assessment } = each;
    const upgrades = Math.max(0, assessment.pending + assessment.active - assessment.setAside);
    const share = upgrades / Math.max(1, wave.size + wave.joined);
    return { upgrades, chain: Math.ceil(wave.chain * share), soakMs: remainingSoakMs(each, from) };
  });
}

function remainingSoakMs(of: AssessedWave, from: EpochMs): DurationMs {
  if (of.wave.state === 'passed' || of.wave.size === 0) return 0;
  const endsAt = soakEndsAtOf(of);
  return endsAt === null ? of.rule.soakMs : Math.max(0, endsAt - from);
}

function atTheLatest(view: AssessedView, otherwise: EpochMs | null): Eta {
  const until = lastDeferredUntil(view);
  if (until === null) return unknown('collectors');
  return { kind: 'atTheLatest', at: Math.max(until, otherwise ?? until) };
}

function unknown(reason: EtaUnknownReason): Eta {
  return { kind: 'unknown', reason };
}

/** What a running rollout waits for while nothing of it is in flight, and until when where that is known. */
export interface WaitsFor {
  /**
   * `window`: all that could start waits for an open window. `collectors`: only deferred collectors remain, of the wave or
   * of the rollout; they are given up then. `inventory`: the inventory is not plausible, and is read again.
   */
  readonly kind: 'window' | 'collectors' | 'inventory';
  readonly until: EpochMs | null;
}

/** What nothing but a change outside can bring on; null while something of the rollout goes on, a soak included. */
export function waitsForOf(view: AssessedView, now: EpochMs): WaitsFor | null {
  const { current } = view;
  const { state, doubt } = view.rollout;
  if (state !== 'running' || total(view, isRunning) > 0) return null;
  if (doubt !== undefined) return { kind: 'inventory', until: null };
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

/** True while every upgrade that has not ended is deferred. */
function isDeferredAlone(view: AssessedView): boolean {
  const deferred = total(view, (state) => state === 'deferred');
  return deferred > 0 && deferred === total(view, (state) => !isEnd(state));
}
