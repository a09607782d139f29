import { compareBuildVersions } from '../../base/build-version.ts';
import type { Unread } from '../../rollout/messages/scans.ts';
import { isForeign } from '../../rollout/model/account.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { isRolloutEnd, type Rollout } from '../../rollout/model/rollout.ts';
import { chooseTarget, isOffered } from '../../rollout/planning/target.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { Build } from '../ports/fleet-service.ts';
import { changeRollout, holdRollout } from '../records/change-rollout.ts';
import { type AddLateJoinersParts, acceptsLateJoiners, addLateJoiners } from './late-joiners.ts';
import type { PlanMemory } from './read-plan.ts';

export interface CheckActiveParts extends AddLateJoinersParts {
  readonly accounts: Accounts;
}

/**
 * Checks a running rollout at each tick of the schedule. Holds it if its pinned build is withdrawn (P6), adds late joiners,
 * and ends it for a newer build if the policy asks for that.
 * @returns what could not be read; undefined if everything was read, or the scan was cancelled
 */
export async function checkActive(
  parts: CheckActiveParts,
  policy: Policy,
  rolloutId: string,
  memory: PlanMemory,
  signal?: AbortSignal,
): Promise<Unread | undefined> {
  const rollout = await parts.store.loadRollout(rolloutId);
  if (rollout === undefined || isRolloutEnd(rollout.state) || rollout.state === 'rollingBack')
    return undefined;
  // Build and collectors of an unreadable record are uncertain.
  if (rollout.unreadable !== undefined) return undefined;
  const account = await parts.accounts.settle(rollout, signal);
  if (isForeign(account)) return { of: 'account', account };
  const builds = await parts.fleet.listBuilds(signal);
  const isCalledOff = () => signal?.aborted === true;
  if (!builds.ok) return isCalledOff() ? undefined : { of: 'builds', why: builds.failure };
  if (await supersede(parts, policy, rollout, builds.value, memory)) return undefined;
  if (!isOffered(rollout.plan.targetBuild, builds.value)) {
    await holdRollout(parts, rolloutId, { kind: 'buildNotOffered', build: rollout.plan.targetBuild });
    return undefined;
  }
  if (!acceptsLateJoiners(rollout)) return undefined;
  const why = await addLateJoiners(parts, policy, rollout, memory, signal);
  return why === undefined || isCalledOff() ? undefined : { of: 'fleet', why };
}

/** Ends a rollout for a newer build, if the policy asks for that. */
async function supersede(
  parts: CheckActiveParts,
  policy: Policy,
  rollout: Rollout,
  builds: readonly Build[],
  memory: PlanMemory,
): Promise<boolean> {
  if (!policy.target.supersede || !isSupersedable(rollout)) return false;
  const { seen, held } = await memory.recallBuilds(builds.map(({ version }) => version));
  const target = chooseTarget(policy.target, builds, seen, held);
  if (target.kind === 'none') return false;
  if ((compareBuildVersions(target.build, rollout.plan.targetBuild) ?? 0) <= 0) return false;
  const reason = { kind: 'newerBuild', build: target.build } as const;
  let did = false;
  await changeRollout(parts, rollout.id, 'daemon', ({ rollout: current }) => {
    did = isSupersedable(current);
    return did ? { kind: 'superseded', at: parts.clock.now(), reason } : undefined;
  });
  return did;
}

/** A stopped rollout waits for an operator (P4), and a rollback has to finish first. */
function isSupersedable({ kind, state }: Rollout): boolean {
  return kind === 'upgrade' && (state === 'running' || state === 'awaitingApproval');
}
