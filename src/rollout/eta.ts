import type { DurationMs, EpochMs } from '../base/time.ts';
import type { ApiStanding } from './api-standing.ts';
import { calendarOf } from './calendar.ts';
import { type Estimate, estimateRemainder, type WaveRemainder } from './estimate.ts';
import { assessed } from './gate.ts';
import { isRolloutEnd, type RolloutView, type Wave } from './rollout.ts';
import { soakEndsAtOf } from './soak-end.ts';
import { isDeferredAlone, lastDeferredUntil, waitsForOf } from './waits-for.ts';

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

interface EtaFigures {
  /** Half the range in which the end is expected. */
  readonly plusMinusMs: DurationMs;
  readonly requests: number;
}

/** Why nobody knows, in words for a person. */
export const etaUnknownWords = {
  account: 'it is not known to belong to this account',
  collectors: 'deferred collectors are waited for',
  ending: 'running upgrades are watched to their end',
  held: 'it is held',
  inventory: 'the inventory is not plausible',
  noWindow: 'its windows have no room for it',
  paused: 'it is paused',
  rollingBack: 'it is rolled back',
  serviceDown: 'the service is down',
} as const;
export type EtaUnknownReason = keyof typeof etaUnknownWords;

/** The one place that says when a rollout ends; null for one that has ended. */
export function etaOf(view: RolloutView, now: EpochMs, api: ApiStanding): Eta | null {
  if (view.rollout.endedAt !== null) return null;
  const reason = unknownReasonOf(view, api);
  return reason === undefined ? estimateEta(view, now, api) : unknown(reason);
}

function unknownReasonOf({ rollout, account }: RolloutView, api: ApiStanding): EtaUnknownReason | undefined {
  const { state, doubt } = rollout;
  if (isRolloutEnd(state)) return 'ending';
  if (account !== undefined && account.kind !== 'own') return 'account';
  if (state === 'held' || state === 'paused' || state === 'rollingBack') return state;
  if (api.standstill?.kind === 'serviceDown') return 'serviceDown';
  return doubt === undefined ? undefined : 'inventory';
}

function estimateEta(view: RolloutView, now: EpochMs, api: ApiStanding): Eta {
  const { rollout, learned } = view;
  // Upgrades in flight are not seen to end before a pause is over, either.
  const from = Math.max(now, api.standstill?.until ?? now);
  const remainders = remaindersOf(view, from);
  const estimate = (of: readonly WaveRemainder[], begin: EpochMs): Estimate =>
    estimateRemainder(
      of,
      { ...rollout.policy, ...calendarOf(rollout) },
      {
        from: begin,
        requestsPerSecond: api.requestsPerSecondMax,
        learned,
      },
    );
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

interface Approval {
  /** Index of the first wave that it is for. */
  readonly wave: number;
  readonly isWaitedFor: boolean;
}

/** The next approval without which the rollout does not go on to its end; undefined: there is none. */
function nextApprovalOf({ rollout }: RolloutView): Approval | undefined {
  if (rollout.state === 'awaitingApproval') return { wave: 0, isWaitedFor: true };
  const wave = rollout.waves.findIndex(
    ({ state, size, approvedAt }, index) =>
      (state === 'waiting' || state === 'awaitingApproval') &&
      size > 0 &&
      approvedAt === null &&
      rollout.policy.waves[index]?.approval === true,
  );
  return wave < 0 ? undefined : { wave, isWaitedFor: rollout.waves[wave]?.state === 'awaitingApproval' };
}

function remaindersOf(view: RolloutView, from: EpochMs): readonly WaveRemainder[] {
  return assessed(view).map(({ wave, rule, assessment }, index) => {
    const upgrades = Math.max(0, assessment.pending + assessment.active - assessment.setAside);
    const share = upgrades / Math.max(1, wave.size + wave.joined);
    const soakMs = remainingSoakMs(wave, rule.soakMs, soakEndsAtOf(view, index), from);
    return { upgrades, chain: Math.ceil(wave.chain * share), soakMs };
  });
}

function remainingSoakMs(wave: Wave, soakMs: DurationMs, endsAt: EpochMs | null, from: EpochMs): DurationMs {
  if (wave.state === 'passed' || wave.size === 0) return 0;
  return endsAt === null ? soakMs : Math.max(0, endsAt - from);
}

function atTheLatest(view: RolloutView, otherwise: EpochMs | null): Eta {
  const until = lastDeferredUntil(view);
  if (until === null) return unknown('collectors');
  return { kind: 'atTheLatest', at: Math.max(until, otherwise ?? until) };
}

function unknown(reason: EtaUnknownReason): Eta {
  return { kind: 'unknown', reason };
}
