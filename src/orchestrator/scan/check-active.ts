import { compareBuildVersions } from '../../base/build-version.ts';
import { accountWords } from '../../rollout/messages/accounts.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { isRolloutEnd, type Rollout } from '../../rollout/model/rollout.ts';
import { chooseTarget, isOffered } from '../../rollout/planning/target.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { Build } from '../ports/fleet-service.ts';
import type { Unread } from '../ports/scan-book.ts';
import { changeRollout, holdRollout } from '../records/change-rollout.ts';
import { type AddLateJoinersParts, acceptsLateJoiners, addLateJoiners } from './late-joiners.ts';
import type { PlanMemory } from './read-plan.ts';

export interface CheckActiveParts extends AddLateJoinersParts {
  /** Every rollout is ours, where left out. */
  readonly accounts?: Accounts;
}

/**
 * Looks after a rollout that is on its way, at each tick of the schedule: it keeps its pinned build and holds when that
 * is withdrawn (P6), ends for a newer one only where the policy says so, and takes in late joiners.
 * @returns why it could not be looked after: what could not be read, or that it is another account's; undefined when it
 *   was, or it was called off
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
  // What it is pinned to, and whom it has, is known only as far as it goes.
  if (rollout.unreadable !== undefined) return undefined;
  const account = await parts.accounts?.settle(rollout, signal);
  if (account !== undefined && account.kind !== 'own') return { reason: accountWords(account) };
  const builds = await parts.fleet.listBuilds(signal);
  const unread = (what: string, why: Unread): Unread | undefined =>
    signal?.aborted === true ? undefined : { ...why, reason: `${what}: ${why.reason}` };
  if (!builds.ok) return unread('the builds on offer', { reason: describeFailure(builds.failure) });
  if (await supersede(parts, policy, rollout, builds.value, memory)) return undefined;
  if (!isOffered(rollout.targetBuild, builds.value)) {
    await holdRollout(parts, rolloutId, { kind: 'buildNotOffered', build: rollout.targetBuild });
    return undefined;
  }
  if (!acceptsLateJoiners(rollout)) return undefined;
  const why = await addLateJoiners(parts, policy, rollout, memory, signal);
  return why === undefined ? undefined : unread('the fleet, for late joiners', why);
}

/** Ends a rollout for a newer build, where the policy wants that. */
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
  if ((compareBuildVersions(target.build, rollout.targetBuild) ?? 0) <= 0) return false;
  const reason = { kind: 'newerBuild', build: target.build } as const;
  let did = false;
  await changeRollout(parts, rollout.id, 'daemon', ({ rollout: current }) => {
    did = isSupersedable(current);
    return did ? { kind: 'superseded', at: parts.clock.now(), reason } : undefined;
  });
  return did;
}

/** One that a person or a breach has stopped waits for a word (P4), and a way back is finished first. */
function isSupersedable({ kind, state }: Rollout): boolean {
  return kind === 'upgrade' && (state === 'running' || state === 'awaitingApproval');
}
