import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { sumOf } from '../../base/grouping.ts';
import { nearestText } from '../../base/names.ts';
import type { EpochMs } from '../../base/time.ts';
import { eventsMax } from '../../contract/admin/event-limits.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { ShownReplay } from '../../rehearsal/result/replay-text.ts';
import {
  type PastMember,
  type PastNight,
  readPastNight,
  type SeenTaskEnds,
  taskEndKey,
} from '../../rehearsal/world/past-night.ts';
import { fleetAsOf } from '../../rehearsal/world/virtual-service.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import { runningStates } from '../../rollout/model/upgrade.ts';
import { listRollouts } from '../rollouts/choose-rollout.ts';
import { readUpgrades } from '../rollouts/read-upgrades.ts';
import { UsageFailure } from '../shell/command.ts';

/** The calls to the daemon that this module needs. */
type PastReads = Pick<AdminClient, 'listRollouts' | 'rolloutStatus' | 'searchUpgrades' | 'readEvents'>;

type PastStatus = Pick<RolloutStatus, 'id' | 'policy' | 'state' | 'targetBuild' | 'createdAt'>;

/** A rollout as the daemon keeps it. */
export interface KeptPast {
  readonly status: PastStatus;
  readonly members: readonly PastMember[];
  readonly taskEnds: SeenTaskEnds;
}

/** @param named the id of a rollout, or a policy: its latest one. @throws CommandFailure where there is nothing to replay */
export async function readPast(client: PastReads, named: string): Promise<KeptPast> {
  const status = choosePast(await listRollouts(client, named), named);
  const { collectors: members } = await readUpgrades(client, status.id, { results: 'true' });
  if (members.length === 0) throw new UsageFailure(`${status.id} has no collectors any more. ${othersText}`);
  if (members.every(({ startedAt }) => startedAt === null))
    throw new UsageFailure(
      `${status.id} started no upgrade, so that there is nothing to replay. Leave out --replay to rehearse its policy.`,
    );
  return { status, members, taskEnds: await readTaskEnds(client, status.id) };
}

const othersText = '`upwave list` shows the rollouts that the daemon keeps.';

function choosePast(rollouts: readonly RolloutStatus[], named: string): RolloutStatus {
  const upgrades = rollouts.filter(({ kind }) => kind === 'upgrade');
  const found = rollouts.find(({ id }) => id === named) ?? upgrades.find(({ policy }) => policy === named);
  if (found === undefined) {
    const nearest = nearestText(
      named,
      upgrades.flatMap(({ id, policy }) => [policy, id]),
    );
    const hint = nearest === undefined ? othersText : `Did you mean ${nearest}?`;
    throw new UsageFailure(`the daemon has no rollout ${named}, or its history has expired. ${hint}`);
  }
  const { id, kind, rollbackOf, rollbackId, endedAt, state, counts, policy } = found;
  if (kind === 'rollback')
    throw new UsageFailure(`${id} is a rollback. Replay the original rollout: --replay ${rollbackOf}`);
  if (endedAt !== null) return found;
  if (state === 'rollingBack')
    throw new UsageFailure(
      `${id} is being rolled back by ${rollbackId ?? 'a rollback'}. Replay it after that.`,
    );
  const running = sumOf(runningStates, (each) => counts[each]);
  if (state === 'running' || state === 'awaitingApproval' || running > 0)
    throw new UsageFailure(
      `${id} has not ended, and ${running} of its collectors are in flight. Replay it when it has ended, or pause it (\`upwave pause ${policy}\`) and wait until none is in flight.`,
    );
  return found;
}

/** The latest task ends. A long history has more, whose instants are estimated. */
async function readTaskEnds(client: Pick<PastReads, 'readEvents'>, id: string): Promise<SeenTaskEnds> {
  const types = ['upgrade.verifying', 'upgrade.retrying', 'upgrade.failed'];
  const events = await Promise.all(types.map((type) => client.readEvents(id, { type, limit: eventsMax })));
  return new Map(
    events
      .flat()
      .flatMap(({ collectorId, attempt, at, seenDelayMs }) =>
        collectorId === undefined || attempt === undefined || seenDelayMs === undefined
          ? []
          : [[taskEndKey(collectorId, attempt), { at, seenDelayMs }] as const],
      ),
  );
}

/** A past rollout with its collectors in the fleet, on the builds that they had then. */
export interface ReplayedPast {
  readonly past: PastNight;
  readonly snapshot: FleetSnapshot;
  readonly shown: ShownReplay;
}

/** @throws CommandFailure when the fleet has none of its collectors */
export function placePast(
  { status, members, taskEnds }: KeptPast,
  fleet: readonly FleetCollector[],
  at: EpochMs,
): ReplayedPast {
  const byId = new Map(members.map((member) => [member.collectorId, member]));
  const collectors = fleet.flatMap((collector) => {
    const member = byId.get(collector.id);
    return member === undefined ? [] : [{ ...collector, build: member.fromBuild, alive: true }];
  });
  if (collectors.length === 0)
    throw new UsageFailure(
      `the fleet has no collector of ${status.id}. Name the fleet of that time with --fleet.`,
    );
  const present = new Set(collectors.map(({ id }) => id));
  const past = readPastNight(
    status,
    members.filter(({ collectorId }) => present.has(collectorId)),
    taskEnds,
  );
  const { rolloutId, state, harmed, upgraded, fates } = past;
  const known = fates.size;
  return {
    past,
    snapshot: fleetAsOf(collectors, at),
    shown: {
      ...{ rolloutId, state, harmed, upgraded, known },
      ...{ drawn: collectors.length - known, missing: members.length - collectors.length },
    },
  };
}
