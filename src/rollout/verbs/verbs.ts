import type { EpochMs } from '../../base/time.ts';
import { type RolloutVerb, rolloutVerbs } from '../../base/vocabulary.ts';
import { total } from '../decision/assess.ts';
import type { RolloutFact } from '../decision/rollout-facts.ts';
import {
  type BuildHold,
  holdNumber,
  isRolloutEnd,
  type Rollout,
  type RolloutView,
} from '../model/rollout.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { isFailed, mayHaveBuild } from '../model/upgrade.ts';
import type { Awaited, Refusal, ShownRollback } from './refusal.ts';

export { type RolloutVerb, rolloutVerbs };

/** A verb. One that starts or widens something names the plan, wave or number that its operator saw (P15). */
export type AskedVerb =
  | { readonly verb: 'pause' }
  | { readonly verb: 'abort' }
  /** `shown`: the numbers of the preview, without which nothing begins. `now`: outside windows and in freezes, too. */
  | { readonly verb: 'rollback'; readonly shown?: ShownRollback; readonly now?: boolean }
  /** `hold`: the number of the hold or pause that ends. */
  | { readonly verb: 'resume'; readonly hold: number }
  | { readonly verb: 'approve'; readonly planHash: string }
  | { readonly verb: 'approve'; readonly wave: string }
  | { readonly verb: 'skipSoak'; readonly wave: string }
  /** `failed`: how many collectors had failed. `failureClass`: only failures of it, or with these words in their reason. */
  | { readonly verb: 'retry'; readonly failed: number; readonly failureClass?: string };

type AskedAs<V extends RolloutVerb> = Extract<AskedVerb, { readonly verb: V }>;

export type VerbJudgement =
  | { readonly kind: 'change'; readonly fact: RolloutFact }
  /** The failed upgrades change, and the rollout itself does not. */
  | { readonly kind: 'retry' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

interface VerbTraits {
  readonly stopsCreates: boolean;
  readonly forForeign: boolean;
  /** It has to name what it is for, as its operator saw it (P15). */
  readonly needsName: boolean;
}

/** What a verb is like, whatever the rollout. */
export const verbTraits: Readonly<Record<RolloutVerb, VerbTraits>> = {
  pause: { stopsCreates: true, forForeign: true, needsName: false },
  resume: { stopsCreates: false, forForeign: false, needsName: true },
  approve: { stopsCreates: false, forForeign: false, needsName: true },
  skipSoak: { stopsCreates: false, forForeign: false, needsName: true },
  abort: { stopsCreates: true, forForeign: true, needsName: false },
  rollback: { stopsCreates: true, forForeign: false, needsName: false },
  retry: { stopsCreates: false, forForeign: false, needsName: true },
};

export interface VerbWords {
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

/**
 * Whether a verb is legal now, is for what there is now (P15), and what it does. Repeating a verb changes nothing
 * (DESIGN §5, HTTP).
 */
export function judgeVerb(view: RolloutView, asked: AskedVerb, words: VerbWords): VerbJudgement {
  const { rollout, account } = view;
  const { verb } = asked;
  // The account of an ended rollout is settled when an operator opens the rollout again.
  const isForeign =
    account !== undefined &&
    account.kind !== 'own' &&
    !(account.kind === 'unknown' && rollout.endedAt !== null);
  if (isForeign && !verbTraits[verb].forForeign) return refuse({ kind: 'foreign', account });
  const { unreadable } = rollout;
  if (unreadable?.kind === 'newer' || (unreadable !== undefined && verb !== 'abort'))
    return refuse({ kind: 'recordUnreadable', unreadable });
  const reason = { kind: 'asked', by: words.by, words: words.reason } as const;
  // The table is exhaustive by type; TypeScript can't see that the row and the verb belong together.
  const judge = judges[verb] as Judge<AskedVerb>;
  return judge(view, asked, { at: words.at, reason });
}

interface Said {
  readonly at: EpochMs;
  readonly reason: RolloutReason;
}

type Judge<Asked> = (view: RolloutView, asked: Asked, said: Said) => VerbJudgement;

const judges: { readonly [V in RolloutVerb]: Judge<AskedAs<V>> } = {
  pause: ({ rollout }, _asked, said) => {
    const { state } = rollout;
    if (state === 'paused') return unchanged;
    // A hold that may end by itself is no brake: a person's word takes its place (P4).
    if (state === 'running' || rollout.heldFor !== undefined) return change({ kind: 'paused', ...said });
    if (state === 'held') return refuse({ kind: 'alreadyHeld' });
    return refuseState(rollout);
  },

  resume: (view, { hold: asked }, said) => {
    const { rollout, buildHold } = view;
    const { state, reason } = rollout;
    if (state === 'running') return unchanged;
    if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
    const hold = holdNumber(rollout);
    if (hold === null) return refuse({ kind: 'notStopped', state });
    if (hold !== asked) return refuse({ kind: 'otherHold', state, hold, asked, reason });
    if (buildHold !== null) return refuseHeld(buildHold);
    return change({ kind: 'resumed', ...said, view });
  },

  approve: ({ rollout, buildHold }, asked, said) => {
    if (isRolloutEnd(rollout.state) || rollout.state === 'rollingBack') return refuseState(rollout);
    if (rollout.state === 'awaitingApproval' && buildHold !== null) return refuseHeld(buildHold);
    return 'wave' in asked
      ? judgeApproveWave(rollout, asked.wave, said)
      : judgeApprovePlan(rollout, asked.planHash, said);
  },

  skipSoak: ({ rollout }, { wave: asked }, said) => {
    if (isRolloutEnd(rollout.state) || rollout.state === 'rollingBack') return refuseState(rollout);
    const index = rollout.waves.findIndex(({ name }) => name === asked);
    const wave = rollout.waves[index];
    if (wave !== undefined && wave.soakSkippedAt !== null) return unchanged;
    if (wave?.state === 'soaking') return change({ kind: 'soakSkipped', wave: index, ...said });
    const soaking = rollout.waves.find(({ state }) => state === 'soaking')?.name ?? null;
    return refuse({ kind: 'notSoaking', asked, soaking });
  },

  abort: ({ rollout, account }, _asked, said) => {
    const { state } = rollout;
    if (state === 'aborted') return unchanged;
    // A rollback on another account is never ended from here, and no rollout of the policy could start meanwhile.
    const isForeign = account !== undefined && account.kind !== 'own';
    // A rollback does not start while the inventory is implausible: the whole fleet may be gone.
    const isUnplanned = rollout.rollbackId === null && rollout.doubt !== undefined;
    const isRollingBack = state === 'rollingBack' && !isForeign && !isUnplanned;
    if (isRollingBack || isRolloutEnd(state)) return refuseState(rollout);
    return change({ kind: 'aborted', ...said });
  },

  rollback: (view, { now = false }, said) => {
    const { state, kind, rollbackOf, anyTime } = view.rollout;
    const lift = anyTime === true || !now ? unchanged : change({ kind: 'windowsLifted', ...said });
    if (kind === 'rollback') {
      if (!now) return refuse({ kind: 'isRollback', rollbackOf });
      return isRolloutEnd(state) ? refuseState(view.rollout) : lift;
    }
    if (state === 'rollingBack') return lift;
    if (state === 'rolledBack') return unchanged;
    if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
    if (total(view, mayHaveBuild) === 0)
      return refuse({ kind: 'nothingUpgraded', isOver: isRolloutEnd(state) });
    return change({ kind: 'rollbackAsked', ...said, ...(now ? { anyTime: true } : {}) });
  },

  /** The failed records are changed one by one before; a rollout that was over is open again then. */
  retry: (view, { failed: asked }, said) => {
    const { state, endedAt } = view.rollout;
    if (state === 'awaitingApproval' || state === 'rollingBack') return refuseState(view.rollout);
    const some = total(view, (each) => isFailed(each) || each === 'retrying');
    if (some === 0) return refuse({ kind: 'nothingFailed' });
    const failed = total(view, isFailed);
    if (failed > asked) return refuse({ kind: 'moreFailed', failed, asked });
    if (state === 'finishedWithFailures') return change({ kind: 'reopened', ...said });
    if (isRolloutEnd(state) || endedAt !== null) return refuse({ kind: 'over', state });
    return failed === 0 ? unchanged : { kind: 'retry' };
  },
};

function refuseHeld({ build, reason }: BuildHold): VerbJudgement {
  return refuse({ kind: 'buildHeld', build, reason });
}

function judgeApprovePlan(rollout: Rollout, asked: string, said: Said): VerbJudgement {
  const { state, planHash, policy } = rollout;
  const awaited = awaitedOf(rollout);
  if (planHash !== asked) return refuse({ kind: 'otherPlan', planHash, asked, awaited });
  if (state === 'awaitingApproval') return change({ kind: 'approved', ...said });
  return policy.approval ? unchanged : refuse({ kind: 'noApprovalNeeded', awaited });
}

function judgeApproveWave(rollout: Rollout, asked: string, said: Said): VerbJudgement {
  const index = rollout.waves.findIndex(({ name }) => name === asked);
  const wave = rollout.waves[index];
  const awaited = awaitedOf(rollout);
  if (wave === undefined) return refuse({ kind: 'unknownWave', asked, awaited });
  if (wave.approvedAt !== null) return unchanged;
  if (wave.state === 'awaitingApproval' && rollout.state !== 'awaitingApproval')
    return change({ kind: 'waveApproved', wave: index, ...said });
  return refuse({ kind: 'waveNotAwaiting', asked, awaited });
}

function awaitedOf({ state, planHash, waves }: Rollout): Awaited | null {
  if (state === 'awaitingApproval') return { kind: 'plan', planHash };
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

/** The state alone forbids it. */
function refuseState({ state, rollbackId }: Rollout): VerbJudgement {
  if (state === 'rollingBack') return refuse({ kind: 'rollingBack', rollback: rollbackId });
  if (state === 'awaitingApproval') return refuse({ kind: 'notStarted' });
  return refuse({ kind: 'over', state });
}
