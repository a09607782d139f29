import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import type { HeldThings } from '../../contract/admin/holds.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { PlanMemory } from '../../orchestrator/scan/read-plan.ts';
import { heldIn } from '../../orchestrator/scan/read-plan.ts';
import { isEnd, isFailed } from '../../rollout/model/upgrade.ts';
import type { ComparedMember, ComparedRollout } from '../../rollout/planning/plan-difference.ts';
import { readUpgrades } from '../rollouts/read-upgrades.ts';

type Reads = Pick<AdminClient, 'searchUpgrades'>;

/** A rollout with its members, to compare a plan with. */
export interface ReadRollout extends ComparedRollout {
  readonly status: RolloutStatus;
}

/** The rollout of a policy that a fresh plan is compared with: the running one, else the last. Rollbacks are left out. */
export function comparedOf(rollouts: readonly RolloutStatus[], policy: string): RolloutStatus | undefined {
  const own = rollouts.filter((rollout) => rollout.policy === policy && rollout.kind === 'upgrade');
  return own.find(({ endedAt }) => endedAt === null) ?? own[0];
}

/** Reads all members of a rollout. */
export async function readMembers(client: Reads, status: RolloutStatus): Promise<ReadRollout> {
  const { collectors } = await readUpgrades(client, status.id);
  const members = collectors.map(
    ({ collectorId: id, collectorName: name, wave, fromBuild, state }): ComparedMember => ({
      ...{ id, name, wave, fromBuild, state },
    }),
  );
  return { status, targetBuild: status.targetBuild, members };
}

/** The holds that concern the policies of an account. @param account its name; undefined: the config has one */
export function holdsOfAccount(held: HeldThings, account: string | undefined): HeldThings {
  const isOwn = ({ accountName }: HeldThings['builds'][number]) =>
    accountName === undefined || accountName === account;
  return { ...held, builds: held.builds.filter(isOwn) };
}

/** What only the daemon knows: holds, failures of this build, and collectors in other rollouts. */
export function memoryOf(
  { builds, ...held }: HeldThings,
  compared: ReadRollout | undefined,
  others: readonly ReadRollout[],
  history: readonly BuildOutcome[],
): PlanMemory {
  const claimed = new Set(
    others.flatMap(({ members }) =>
      members.flatMap(({ id, state }) => (!isEnd(state) || isFailed(state) ? [id] : [])),
    ),
  );
  return {
    recallBuilds: async () => ({ held: new Map(builds.map(({ build, reason }) => [build, reason])) }),
    recallCollectors: async (targetBuild, fleet) => ({
      heldCollectors: heldIn(fleet, held),
      failedBefore: failedBefore(compared, targetBuild),
      claimed,
      history,
    }),
  };
}

/** A running rollout retries its failures. After its end, the next rollout leaves them out. */
function failedBefore(compared: ReadRollout | undefined, targetBuild: string): ReadonlySet<number> {
  if (compared === undefined || !isSameBuild(compared.targetBuild, targetBuild)) return new Set();
  const { endedAt, state } = compared.status;
  if (endedAt === null || state === 'succeeded') return new Set();
  return new Set(compared.members.filter((member) => isFailed(member.state)).map(({ id }) => id));
}
