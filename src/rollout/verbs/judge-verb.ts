import type { EpochMs } from '../../base/time.ts';
import { type RolloutVerb, rolloutVerbs } from '../../base/vocabulary.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import type { ShownRollback } from '../../contract/admin/verbs.ts';
import { countUpgradesIn } from '../decision/assess.ts';
import type { RolloutFact } from '../decision/rollout-facts.ts';
import { isForeign } from '../model/account.ts';
import { isRolloutEnd, type Rollout, type RolloutView } from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { isFailed, mayHaveBuild } from '../model/upgrade.ts';
import type { Awaited, Refusal } from './refusal.ts';

export { type RolloutVerb, rolloutVerbs };

/** A verb with its arguments. A verb that starts or widens something names the plan, wave or number shown (P15). */
export type AskedVerb =
  | { readonly verb: 'pause' }
  | { readonly verb: 'abort' }
  /** `shown`: the confirmed preview, required to begin. `now`: start even outside windows and in freezes. */
  | { readonly verb: 'rollback'; readonly shown?: ShownRollback; readonly now?: boolean }
  /** `hold`: the number of the hold or pause to end. */
  | { readonly verb: 'resume'; readonly hold: number }
  | { readonly verb: 'approve'; readonly planHash: string }
  | { readonly verb: 'approve'; readonly wave: string }
  | { readonly verb: 'skipSoak'; readonly wave: string }
  /**
   * `failed`: the number of failures shown. `cause`: retries only this class, or reasons that contain this text.
   * `collectorIds`: retries only these.
   */
  | {
      readonly verb: 'retry';
      readonly failed: number;
      readonly cause?: string;
      readonly collectorIds?: readonly number[];
    };

type AskedAs<V extends RolloutVerb> = Extract<AskedVerb, { readonly verb: V }>;

export type VerbJudgement =
  | { readonly kind: 'change'; readonly fact: RolloutFact }
  /** The failed upgrades change, but the rollout itself does not. */
  | { readonly kind: 'retry' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

interface VerbTraits {
  readonly stopsCreates: boolean;
  /** Also allowed for a rollout of another account. */
  readonly forForeign: boolean;
  /** Must name the plan, wave or number that the operator saw (P15). */
  readonly needsName: boolean;
}

/** Properties of a verb that do not depend on the rollout. */
export const verbTraits: Readonly<Record<RolloutVerb, VerbTraits>> = {
  pause: { stopsCreates: true, forForeign: true, needsName: false },
  resume: { stopsCreates: false, forForeign: false, needsName: true },
  approve: { stopsCreates: false, forForeign: false, needsName: true },
  skipSoak: { stopsCreates: false, forForeign: false, needsName: true },
  abort: { stopsCreates: true, forForeign: true, needsName: false },
  rollback: { stopsCreates: true, forForeign: false, needsName: false },
  retry: { stopsCreates: false, forForeign: false, needsName: true },
};

/** Who asked for a verb, why and when. */
export interface VerbContext {
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

/**
 * Decides whether a verb is legal now, whether it names the current plan, wave or hold (P15), and what it changes.
 * Verbs are idempotent (DESIGN §5, HTTP).
 */
export function judgeVerb(view: RolloutView, asked: AskedVerb, context: VerbContext): VerbJudgement {
  const { rollout, account } = view;
  const { verb } = asked;
  // The account of an ended rollout is determined when an operator reopens the rollout.
  const isJudged = account?.kind !== 'unknown' || rollout.endedAt === null;
  if (isForeign(account) && isJudged && !verbTraits[verb].forForeign)
    return refuse({ kind: 'foreign', account });
  const { unreadable } = rollout;
  if (unreadable?.kind === 'newer' || (unreadable !== undefined && verb !== 'abort'))
    return refuse({ kind: 'recordUnreadable', unreadable });
  const reason = { kind: 'asked', by: context.by, words: context.reason } as const;
  // The table is exhaustive by type; TypeScript can't see that the row and the verb belong together.
  const judgeAsked = judges[verb] as Judge<AskedVerb>;
  return judgeAsked(view, asked, { at: context.at, reason });
}

/** The part of a fact that is the same for all verbs. */
interface Cause {
  readonly at: EpochMs;
  readonly reason: RolloutReason;
}

type Judge<Asked> = (view: RolloutView, asked: Asked, cause: Cause) => VerbJudgement;

const judges: { readonly [V in RolloutVerb]: Judge<AskedAs<V>> } = {
  pause: ({ rollout }, _asked, cause) => {
    const { state } = rollout;
    if (state === 'paused') return unchanged;
    // A hold that may end by itself must not replace a pause, which only an operator ends (P4).
    if (state === 'running' || rollout.hold?.heldFor !== undefined)
      return change({ kind: 'paused', ...cause });
    if (state === 'held') return refuse({ kind: 'alreadyHeld' });
    return refuseState(rollout);
  },

  resume: (view, { hold: asked }, cause) => {
    const { rollout, buildHold } = view;
    const { state, reason } = rollout;
    if (state === 'running') return unchanged;
    if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
    if (rollout.hold === null) return refuse({ kind: 'notStopped', state });
    const { number: hold } = rollout.hold;
    if (hold !== asked) return refuse({ kind: 'otherHold', state, hold, asked, reason });
    if (buildHold !== null) return refuseHeld(buildHold);
    return change({ kind: 'resumed', ...cause, view });
  },

  approve: ({ rollout, buildHold }, asked, cause) => {
    if (isRolloutEnd(rollout.state) || rollout.state === 'rollingBack') return refuseState(rollout);
    if (rollout.state === 'awaitingApproval' && buildHold !== null) return refuseHeld(buildHold);
    return 'wave' in asked
      ? judgeApproveWave(rollout, asked.wave, cause)
      : judgeApprovePlan(rollout, asked.planHash, cause);
  },

  skipSoak: ({ rollout }, { wave: asked }, cause) => {
    if (isRolloutEnd(rollout.state) || rollout.state === 'rollingBack') return refuseState(rollout);
    const index = rollout.waves.findIndex(({ name }) => name === asked);
    const wave = rollout.waves[index];
    if (wave !== undefined && wave.soakSkippedAt !== null) return unchanged;
    if (wave?.state === 'soaking') return change({ kind: 'soakSkipped', wave: index, ...cause });
    const soaking = rollout.waves.find(({ state }) => state === 'soaking')?.name ?? null;
    return refuse({ kind: 'notSoaking', asked, soaking });
  },

  abort: ({ rollout, account }, _asked, cause) => {
    const { state } = rollout;
    if (state === 'aborted') return unchanged;
    // A foreign rollback can't be ended from here, and would block all rollouts of the policy.
    // A rollback does not start while the inventory is implausible, because the whole fleet may be missing from it.
    const isUnplanned = rollout.rollback.startedAs === null && rollout.inventory.implausible !== null;
    const isRollingBack = state === 'rollingBack' && !isForeign(account) && !isUnplanned;
    if (isRollingBack || isRolloutEnd(state)) return refuseState(rollout);
    return change({ kind: 'aborted', ...cause });
  },

  rollback: (view, { now = false }, cause) => {
    const { state, kind, rollback } = view.rollout;
    const lift = rollback.anyTime || !now ? unchanged : change({ kind: 'windowsLifted', ...cause });
    if (kind === 'rollback') {
      if (!now) return refuse({ kind: 'isRollback', rollbackOf: rollback.original });
      return isRolloutEnd(state) ? refuseState(view.rollout) : lift;
    }
    if (state === 'rollingBack') return lift;
    if (state === 'rolledBack') return unchanged;
    if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
    if (countUpgradesIn(view, mayHaveBuild) === 0)
      return refuse({ kind: 'nothingUpgraded', isOver: isRolloutEnd(state) });
    return change({ kind: 'rollbackAsked', ...cause, ...(now ? { anyTime: true } : {}) });
  },

  /** The failed records are changed one by one first. A finished rollout is reopened then. */
  retry: (view, { failed: asked }, cause) => {
    const { state, endedAt } = view.rollout;
    if (state === 'awaitingApproval' || state === 'rollingBack') return refuseState(view.rollout);
    const some = countUpgradesIn(view, (each) => isFailed(each) || each === 'retrying');
    if (some === 0) return refuse({ kind: 'nothingFailed' });
    const failed = countUpgradesIn(view, isFailed);
    if (failed > asked) return refuse({ kind: 'moreFailed', failed, asked });
    if (state === 'finishedWithFailures') return change({ kind: 'reopened', ...cause });
    if (isRolloutEnd(state) || endedAt !== null) return refuse({ kind: 'over', state });
    return failed === 0 ? unchanged : { kind: 'retry' };
  },
};

function refuseHeld({ build, reason }: BuildHold): VerbJudgement {
  return refuse({ kind: 'buildHeld', build, reason });
}

function judgeApprovePlan(rollout: Rollout, asked: string, cause: Cause): VerbJudgement {
  const { state, policy } = rollout;
  const { hash: planHash } = rollout.plan;
  const awaited = awaitedOf(rollout);
  if (planHash !== asked) return refuse({ kind: 'otherPlan', planHash, asked, awaited });
  if (state === 'awaitingApproval') return change({ kind: 'approved', ...cause });
  return policy.approval ? unchanged : refuse({ kind: 'noApprovalNeeded', awaited });
}

function judgeApproveWave(rollout: Rollout, asked: string, cause: Cause): VerbJudgement {
  const index = rollout.waves.findIndex(({ name }) => name === asked);
  const wave = rollout.waves[index];
  const awaited = awaitedOf(rollout);
  if (wave === undefined) return refuse({ kind: 'unknownWave', asked, awaited });
  if (wave.approvedAt !== null) return unchanged;
  if (wave.state === 'awaitingApproval' && rollout.state !== 'awaitingApproval')
    return change({ kind: 'waveApproved', wave: index, ...cause });
  return refuse({ kind: 'waveNotAwaiting', asked, awaited });
}

function awaitedOf({ state, plan, waves }: Rollout): Awaited | null {
  if (state === 'awaitingApproval') return { kind: 'plan', planHash: plan.hash };
  const wave = waves.find((each) => each.state === 'awaitingApproval' && each.approvedAt === null);
  return wave === undefined ? null : { kind: 'wave', wave: wave.name };
}

const unchanged: VerbJudgement = { kind: 'unchanged' };

function change(fact: RolloutFact): VerbJudgement {
  return { kind: 'change', fact };
}

function refuse(refusal: Refusal): VerbJudgement {
  return { kind: 'refused', refusal };
}

/** Refuses a verb that the rollout's state forbids. */
function refuseState({ state, rollback }: Rollout): VerbJudgement {
  if (state === 'rollingBack') return refuse({ kind: 'rollingBack', rollback: rollback.startedAs });
  if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
  return refuse({ kind: 'over', state });
}
