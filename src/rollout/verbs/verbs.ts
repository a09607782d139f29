import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import { total } from '../decision/assess.ts';
import type { RolloutFact } from '../decision/evolve-rollout.ts';
import { accountWords } from '../model/account.ts';
import { unreadableWords } from '../model/describe-unreadable.ts';
import { holdNumber, isRolloutEnd, type Rollout, type RolloutView } from '../model/rollout.ts';
import { isFailed, mayHaveBuild, stateWords } from '../model/upgrade.ts';
import type { ShownRollback } from './preview-rollback.ts';

export const rolloutVerbs = ['pause', 'resume', 'approve', 'skipSoak', 'abort', 'rollback', 'retry'] as const;
/** What an operator may ask of a rollout as a whole. */
export type RolloutVerb = (typeof rolloutVerbs)[number];

/** A verb, with what it is for as its operator saw it, where it starts or widens something (P15). */
export type AskedVerb =
  | { readonly verb: 'pause' | 'abort' }
  /** `shown`: the numbers of the preview, without which nothing begins. `now`: outside windows and in freezes, too. */
  | { readonly verb: 'rollback'; readonly shown?: ShownRollback; readonly now?: boolean }
  /** `hold`: the number of the hold or pause that ends. */
  | { readonly verb: 'resume'; readonly hold: number }
  | { readonly verb: 'approve'; readonly planHash: string }
  | { readonly verb: 'approve'; readonly wave: string }
  | { readonly verb: 'skipSoak'; readonly wave: string }
  /** `failed`: how many collectors had failed. `failureClass`: only failures of it, or with these words in their reason. */
  | { readonly verb: 'retry'; readonly failed: number; readonly failureClass?: string };

export type VerbJudgement =
  | { readonly kind: 'change'; readonly fact: RolloutFact }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string };

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
  const { verb } = asked;
  const { at } = words;
  const reason = words.reason === '' ? `by ${words.by}` : `by ${words.by}: ${words.reason}`;
  const { account } = view;
  if (account !== undefined && account.kind !== 'own' && verb !== 'abort' && verb !== 'pause')
    return refuse(accountWords(account));
  const { unreadable } = view.rollout;
  if (unreadable?.kind === 'newer' || (unreadable !== undefined && verb !== 'abort'))
    return refuse(unreadableWords(unreadable));
  switch (verb) {
    case 'pause':
      return judgePause(view, { at, reason });
    case 'resume':
      return judgeResume(view, asked.hold, { at, reason });
    case 'approve':
      return 'wave' in asked
        ? judgeApproveWave(view, asked.wave, { at, reason })
        : judgeApprovePlan(view, asked.planHash, { at, reason });
    case 'skipSoak':
      return judgeSkipSoak(view, asked.wave, { at, reason });
    case 'abort':
      return judgeAbort(view, { at, reason });
    case 'rollback':
      return judgeRollback(view, { at, reason }, asked.now ?? false);
    case 'retry':
      return judgeRetry(view, asked.failed, { at, reason });
    default:
      return assertNever(verb);
  }
}

interface Said {
  readonly at: EpochMs;
  readonly reason: string;
}

function judgePause({ rollout }: RolloutView, said: Said): VerbJudgement {
  const { state } = rollout;
  if (state === 'paused') return unchanged;
  // A hold that may end by itself is no brake: a person's word takes its place (P4).
  if (state === 'running' || rollout.heldFor !== undefined) return change({ kind: 'paused', ...said });
  if (state === 'held') return refuse('it is held already, so nothing starts; resume or abort it');
  if (state === 'awaitingApproval') return refuse('it waits for approval, so nothing starts');
  if (state === 'rollingBack') return refuse(`it is rolling back; pause its rollback${rollbackOf(rollout)}`);
  if (state === 'planned') return refuse('it has not begun');
  return refuse(`it is over (${stateWords(state)})`);
}

function judgeResume(view: RolloutView, hold: number, said: Said): VerbJudgement {
  const { state, reason } = view.rollout;
  if (state === 'running') return unchanged;
  if (state === 'awaitingApproval') return refuse('it waits for approval: approve it');
  const now = holdNumber(view.rollout);
  if (now === null) return refuse(`it is ${stateWords(state)}, and only a paused or held one resumes`);
  if (now !== hold) return refuse(`it is ${stateWords(state)} by hold ${now} now, not ${hold}: ${reason}`);
  if (view.buildHold !== null) {
    const { build, reason: why } = view.buildHold;
    return refuse(`build ${build} is held (${why}); release ${build} first`);
  }
  return change({ kind: 'resumed', ...said, view });
}

function judgeApprovePlan({ rollout }: RolloutView, planHash: string, said: Said): VerbJudgement {
  if (isRolloutEnd(rollout.state)) return refuse(`it is over (${stateWords(rollout.state)})`);
  if (rollout.state === 'rollingBack') return refuse('it is rolling back');
  const isThisPlan = planHash === rollout.planHash;
  if (rollout.state === 'awaitingApproval')
    return isThisPlan
      ? change({ kind: 'approved', ...said })
      : refuse(`${awaitedWords(rollout)}, not plan ${planHash}`);
  if (!isThisPlan)
    return refuse(`its plan is ${rollout.planHash}, not ${planHash}; ${awaitedWords(rollout)}`);
  return rollout.policy.approval ? unchanged : refuse(`its plan needs no approval; ${awaitedWords(rollout)}`);
}

function judgeApproveWave({ rollout }: RolloutView, name: string, said: Said): VerbJudgement {
  if (isRolloutEnd(rollout.state)) return refuse(`it is over (${stateWords(rollout.state)})`);
  if (rollout.state === 'rollingBack') return refuse('it is rolling back');
  const index = rollout.waves.findIndex((wave) => wave.name === name);
  const wave = rollout.waves[index];
  if (wave === undefined) return refuse(`it has no wave ${name}; ${awaitedWords(rollout)}`);
  if (wave.approvedAt !== null) return unchanged;
  if (wave.state === 'awaitingApproval' && rollout.state !== 'awaitingApproval')
    return change({ kind: 'waveApproved', wave: index, ...said });
  return refuse(`wave ${name} does not wait for approval; ${awaitedWords(rollout)}`);
}

/** What waits for an approval now. */
function awaitedWords({ state, planHash, waves }: Rollout): string {
  if (state === 'awaitingApproval') return `plan ${planHash} waits for approval`;
  const wave = waves.find((each) => each.state === 'awaitingApproval' && each.approvedAt === null);
  return wave === undefined ? 'nothing of it waits for approval' : `wave ${wave.name} waits for approval`;
}

function judgeSkipSoak({ rollout }: RolloutView, name: string, said: Said): VerbJudgement {
  if (isRolloutEnd(rollout.state)) return refuse(`it is over (${stateWords(rollout.state)})`);
  if (rollout.state === 'rollingBack') return refuse('it is rolling back');
  const index = rollout.waves.findIndex((wave) => wave.name === name);
  const wave = rollout.waves[index];
  if (wave !== undefined && wave.soakSkippedAt !== null) return unchanged;
  if (wave?.state === 'soaking') return change({ kind: 'soakSkipped', wave: index, ...said });
  const now = rollout.waves.find(({ state }) => state === 'soaking');
  return refuse(now === undefined ? 'no wave of it soaks now' : `wave ${now.name} soaks now, not ${name}`);
}

function judgeAbort({ rollout, account }: RolloutView, said: Said): VerbJudgement {
  const { state } = rollout;
  if (state === 'aborted') return unchanged;
  // Of another account nobody here brings the rollback to its end, and the policy's place would stay taken.
  const isForeign = account !== undefined && account.kind !== 'own';
  // Nor is one begun as long as the inventory is not plausible: the whole fleet may be gone.
  const isUnplanned = rollout.rollbackId === null && rollout.doubt !== undefined;
  if (state === 'rollingBack' && !isForeign && !isUnplanned)
    return refuse(`it is rolling back; abort its rollback${rollbackOf(rollout)}`);
  if (isRolloutEnd(state)) return refuse(`it is over (${stateWords(state)})`);
  return change({ kind: 'aborted', ...said });
}

function judgeRollback(view: RolloutView, said: Said, now: boolean): VerbJudgement {
  const { state, kind, rollbackOf: taken, anyTime } = view.rollout;
  const lift = anyTime === true || !now ? unchanged : change({ kind: 'windowsLifted', ...said });
  if (kind === 'rollback') {
    if (!now)
      return refuse(`it is itself the rollback of ${taken}; with --now it starts outside its windows`);
    return isRolloutEnd(state) ? refuse(`it is over (${stateWords(state)})`) : lift;
  }
  if (state === 'rollingBack') return lift;
  if (state === 'rolledBack') return unchanged;
  if (state === 'awaitingApproval') return refuse('nothing of it has started; abort it');
  if (total(view, mayHaveBuild) === 0) {
    return refuse(`nothing of it was upgraded${isRolloutEnd(state) ? '' : '; abort it'}`);
  }
  return change({ kind: 'rollbackAsked', ...said, ...(now ? { anyTime: true } : {}) });
}

/** The failed records are changed one by one before; a rollout that was over is open again then. */
function judgeRetry(view: RolloutView, seen: number, said: Said): VerbJudgement {
  const { state, endedAt } = view.rollout;
  if (state === 'awaitingApproval') return refuse('nothing of it has started');
  if (state === 'rollingBack') return refuse('it is rolling back');
  const some = total(view, (each) => isFailed(each) || each === 'retrying');
  if (some === 0) return refuse('nothing of it has failed');
  const failed = total(view, isFailed);
  if (failed > seen) return refuse(`${failed} of it have failed by now, not ${seen}`);
  if (state === 'finishedWithFailures') return change({ kind: 'reopened', ...said });
  if (isRolloutEnd(state) || endedAt !== null)
    return refuse(`it is over (${stateWords(state)}); the next rollout takes them up`);
  return unchanged;
}

function rollbackOf({ rollbackId }: RolloutView['rollout']): string {
  return rollbackId === null ? ' once it has begun' : ` ${rollbackId}`;
}

const unchanged: VerbJudgement = { kind: 'unchanged' };

function change(fact: RolloutFact): VerbJudgement {
  return { kind: 'change', fact };
}

function refuse(reason: string): VerbJudgement {
  return { kind: 'refused', reason };
}
