import { assertNever } from '../base/assert.ts';
import type { EpochMs } from '../base/time.ts';
import { accountWords } from './account.ts';
import type { RolloutFact } from './evolve-rollout.ts';
import { total } from './gate.ts';
import { isRolloutEnd, type RolloutView } from './rollout.ts';
import { stateWords } from './state-words.ts';
import { isFailed, mayHaveBuild } from './upgrade.ts';

export const rolloutVerbs = ['pause', 'resume', 'approve', 'skipSoak', 'abort', 'rollback', 'retry'] as const;
/** What an operator may ask of a rollout as a whole. */
export type RolloutVerb = (typeof rolloutVerbs)[number];

export type VerbJudgement =
  | { readonly kind: 'change'; readonly fact: RolloutFact }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string };

export interface VerbWords {
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
}

/** Whether a verb is legal now, and what it does. Repeating a verb changes nothing (DESIGN §5, HTTP). */
export function judgeVerb(view: RolloutView, verb: RolloutVerb, words: VerbWords): VerbJudgement {
  const { at } = words;
  const reason = words.reason === '' ? `by ${words.by}` : `by ${words.by}: ${words.reason}`;
  const { account } = view;
  if (account !== undefined && account.kind !== 'own' && verb !== 'abort' && verb !== 'pause')
    return refuse(accountWords(account));
  if (view.rollout.brokenText !== undefined && verb !== 'abort') return refuseUnreadable(view.rollout);
  switch (verb) {
    case 'pause':
      return judgePause(view, { at, reason });
    case 'resume':
      return judgeResume(view, { at, reason });
    case 'approve':
      return judgeApprove(view, { at, reason });
    case 'skipSoak':
      return judgeSkipSoak(view, { at, reason });
    case 'abort':
      return judgeAbort(view, { at, reason });
    case 'rollback':
      return judgeRollback(view, { at, reason });
    case 'retry':
      return judgeRetry(view, { at, reason });
    default:
      return assertNever(verb);
  }
}

interface Asked {
  readonly at: EpochMs;
  readonly reason: string;
}

function judgePause({ rollout }: RolloutView, asked: Asked): VerbJudgement {
  const { state } = rollout;
  if (state === 'paused') return unchanged;
  // A hold that may end by itself is no brake: a person's word takes its place (P4).
  if (state === 'running' || rollout.heldFor !== undefined) return change({ kind: 'paused', ...asked });
  if (state === 'held') return refuse('it is held already, so nothing starts; resume or abort it');
  if (state === 'awaitingApproval') return refuse('it waits for approval, so nothing starts');
  if (state === 'rollingBack') return refuse(`it is rolling back; pause its rollback${rollbackOf(rollout)}`);
  if (state === 'planned') return refuse('it has not begun');
  return refuse(`it is over (${stateWords(state)})`);
}

function judgeResume(view: RolloutView, asked: Asked): VerbJudgement {
  const { state } = view.rollout;
  if (state === 'running') return unchanged;
  if (state === 'awaitingApproval') return refuse('it waits for approval: approve it');
  if (state !== 'paused' && state !== 'held')
    return refuse(`it is ${stateWords(state)}, and only a paused or held one resumes`);
  if (view.buildHold !== null) {
    const { build, reason } = view.buildHold;
    return refuse(`build ${build} is held (${reason}); release ${build} first`);
  }
  return change({ kind: 'resumed', ...asked, view });
}

function judgeApprove({ rollout }: RolloutView, asked: Asked): VerbJudgement {
  if (rollout.state === 'awaitingApproval') return change({ kind: 'approved', ...asked });
  if (isRolloutEnd(rollout.state)) return refuse(`it is over (${stateWords(rollout.state)})`);
  if (rollout.state === 'rollingBack') return refuse('it is rolling back');
  const wave = rollout.waves.findIndex(({ state }) => state === 'awaitingApproval');
  if (wave >= 0 && rollout.waves[wave]?.approvedAt === null)
    return change({ kind: 'waveApproved', wave, ...asked });
  const wasApproved = rollout.policy.approval || rollout.waves.some(({ approvedAt }) => approvedAt !== null);
  return wasApproved ? unchanged : refuse('nothing of it waits for approval');
}

function judgeSkipSoak({ rollout }: RolloutView, asked: Asked): VerbJudgement {
  if (isRolloutEnd(rollout.state)) return refuse(`it is over (${stateWords(rollout.state)})`);
  if (rollout.state === 'rollingBack') return refuse('it is rolling back');
  const wave = rollout.waves.findIndex(({ state }) => state === 'soaking');
  const current = rollout.waves[wave];
  if (current === undefined) return refuse('no wave of it soaks now');
  if (current.soakSkippedAt !== null) return unchanged;
  return change({ kind: 'soakSkipped', wave, ...asked });
}

function judgeAbort({ rollout, account }: RolloutView, asked: Asked): VerbJudgement {
  const { state } = rollout;
  if (state === 'aborted') return unchanged;
  // Of another account nobody here brings the rollback to its end, and the policy's place would stay taken.
  const isForeign = account !== undefined && account.kind !== 'own';
  // Nor is one begun as long as the inventory is not plausible: the whole fleet may be gone.
  const isUnplanned = rollout.rollbackId === null && rollout.doubt !== undefined;
  if (state === 'rollingBack' && !isForeign && !isUnplanned)
    return refuse(`it is rolling back; abort its rollback${rollbackOf(rollout)}`);
  if (isRolloutEnd(state)) return refuse(`it is over (${stateWords(state)})`);
  return change({ kind: 'aborted', ...asked });
}

function judgeRollback(view: RolloutView, asked: Asked): VerbJudgement {
  const { state, kind, rollbackOf: taken } = view.rollout;
  if (kind === 'rollback') return refuse(`it is itself the rollback of ${taken}`);
  if (state === 'rollingBack' || state === 'rolledBack') return unchanged;
  if (state === 'awaitingApproval') return refuse('nothing of it has started; abort it');
  if (total(view, mayHaveBuild) === 0) {
    return refuse(`nothing of it was upgraded${isRolloutEnd(state) ? '' : '; abort it'}`);
  }
  return change({ kind: 'rollbackAsked', ...asked });
}

/** The failed records are changed one by one before; a rollout that was over is open again then. */
function judgeRetry(view: RolloutView, asked: Asked): VerbJudgement {
  const { state, endedAt } = view.rollout;
  if (state === 'awaitingApproval') return refuse('nothing of it has started');
  if (state === 'rollingBack') return refuse('it is rolling back');
  const some = total(view, (each) => isFailed(each) || each === 'retrying');
  if (some === 0) return refuse('nothing of it has failed');
  if (state === 'finishedWithFailures') return change({ kind: 'reopened', ...asked });
  if (isRolloutEnd(state) || endedAt !== null)
    return refuse(`it is over (${stateWords(state)}); the next rollout takes them up`);
  return unchanged;
}

/** What it was about to do, and by which limits, is not known any more. */
function refuseUnreadable({ id, state }: RolloutView['rollout']): VerbJudgement {
  const words = `the record of ${id} in Redis can't be read`;
  return refuse(
    isRolloutEnd(state) ? words : `${words}, and nothing of it starts: abort it, or restore a backup`,
  );
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

/** Finds a stratum by its label, whatever the case and the blanks around its parts. */
export function findStratum(
  strata: ReadonlyArray<{ readonly label: string }>,
  label: string,
): { readonly kind: 'found'; readonly stratum: number; readonly label: string } | { readonly kind: 'none' } {
  const wanted = normalize(label);
  const index = strata.findIndex((each) => normalize(each.label) === wanted);
  const found = strata[index];
  return found === undefined ? { kind: 'none' } : { kind: 'found', stratum: index, label: found.label };
}

/** The index of the stratum with this label; -1 where there is none. */
export function indexOfStratum(strata: ReadonlyArray<{ readonly label: string }>, label: string): number {
  const found = findStratum(strata, label);
  return found.kind === 'found' ? found.stratum : -1;
}

function normalize(label: string): string {
  return label
    .split('/')
    .map((part) => part.trim().toLowerCase())
    .join('/');
}
