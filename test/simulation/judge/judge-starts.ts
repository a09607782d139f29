import { isSameBuild } from '../../../src/base/build-version.ts';
import type { ScanEntry } from '../../../src/orchestrator/ports/scan-book.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import type { SeenRollouts } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

/** Judges who starts a policy again after the store has lost its stopped rollout: only a person may (P4). */
export interface StartJudge {
  /** The store loses all that was seen. */
  lost(seen: Pick<SeenRollouts, 'all'>): void;
  planned(rollout: Rollout): void;
  /** A scan found that its policy waits for a person. @param entry what it wrote down */
  waits(policy: string, entry: ScanEntry | undefined): void;
  /** Whether a policy waits for a person. */
  isWaiting(policy: string): boolean;
}

export function makeStartJudge(verdicts: Verdicts): StartJudge {
  /** By policy: its stopped rollout that the store lost. */
  const stopped = new Map<string, Rollout>();
  return {
    lost: ({ all }) => {
      for (const { rollout } of all.values()) {
        if (rollout.kind === 'rollback') continue;
        if (stoppedFor(rollout) === 'nothing') stopped.delete(rollout.policy.name);
        else stopped.set(rollout.policy.name, rollout);
      }
    },
    planned: ({ id, kind, policy, plan, startedBy }) => {
      if (kind === 'rollback') return;
      const lost = stopped.get(policy.name);
      stopped.delete(policy.name);
      const isOther =
        lost === undefined ||
        (stoppedFor(lost) === 'itsBuild' && !isSameBuild(lost.plan.targetBuild, plan.targetBuild));
      verdicts.check(
        'P4',
        isOther || startedBy === 'operator',
        `${id} was started by ${startedBy}, and ${lost?.id}, which the store lost, was ${lost?.state}`,
      );
    },
    waits: (policy, entry) => {
      if (!stopped.has(policy)) return;
      verdicts.check(
        'P16',
        entry?.needs?.kind === 'start',
        `${policy} waits for a person to start it, and its last scan shows ${entry?.reason}`,
      );
    },
    isWaiting: (policy) => stopped.has(policy),
  };
}

/** What a lost rollout had been stopped for: its build, any build, or nothing. */
function stoppedFor({ state, strata, waves }: Rollout): 'nothing' | 'itsBuild' | 'anyBuild' {
  if (state === 'aborted' || state === 'rollingBack' || state === 'rolledBack') return 'itsBuild';
  if (state === 'held' || state === 'paused' || state === 'awaitingApproval') return 'anyBuild';
  const isPartlyStopped = strata.held.length > 0 || waves.some((wave) => wave.state === 'awaitingApproval');
  return state === 'running' && isPartlyStopped ? 'anyBuild' : 'nothing';
}
