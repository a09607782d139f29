import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import type { DurationMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { groupToHold } from '../../rollout/decision/group-to-hold.ts';
import { headlineText } from '../rollouts/headline-text.ts';
import { CommandFailure } from '../shell/command.ts';
import { withDaemon } from '../shell/daemon-target.ts';
import { readCollectors } from './read-collectors.ts';
import type { AskedValues, Offer, ValueKind } from './value-kinds.ts';

// A person waits for the key that was pressed.
const answerMs: DurationMs = 1_000;

/** Asks a running daemon for the values. Without an answer in time there are none. */
export async function readValues(asked: AskedValues, config: string): Promise<readonly Offer[]> {
  const target = { config: asked.config ?? config, ...(asked.url !== undefined && { url: asked.url }) };
  const stop = new AbortController();
  try {
    return await withDaemon(target, (client) =>
      Promise.race([readers[asked.kind](client, asked), sleepForReal(answerMs, stop.signal).then(() => [])]),
    );
  } catch (error) {
    if (error instanceof CommandFailure) return [];
    throw error;
  } finally {
    stop.abort();
  }
}

type Reader = (client: AdminClient, asked: AskedValues) => Promise<readonly Offer[]>;

const readers: Readonly<Record<ValueKind, Reader>> = {
  policies: async (client) => offersOf((await client.listPolicies()).policies.map(({ policy }) => policy)),
  rollouts: async (client, asked) => [
    ...(await readers.policies(client, asked)),
    ...(await readers.rolloutIds(client, asked)),
  ],
  rolloutIds: async (client) =>
    (await client.listRollouts()).map((status) => ({ name: status.id, help: headlineText(status) })),
  strata: async (client, { rollout }) => offersOf(await strataOf(client, await meantBy(client, rollout))),
  waves: async (client, { rollout }) =>
    offersOf((await meantBy(client, rollout)).flatMap(({ waves }) => waves.map(({ name }) => name))),
  builds: async (client) => offersOf((await client.listRollouts()).flatMap(buildsOf)),
  holdNumbers: async (client, { rollout }) =>
    (await meantBy(client, rollout)).flatMap((status) =>
      status.hold === null ? [] : [{ name: String(status.hold), help: headlineText(status) }],
    ),
  collectors: (client, { typed }) => readCollectors(client, typed),
  holdable: async (client, { typed }) => {
    const rollouts = await client.listRollouts();
    const running = rollouts.filter(({ endedAt }) => endedAt === null);
    const [strata, collectors] = await Promise.all([
      strataOf(client, running),
      readCollectors(client, typed),
    ]);
    // The group that explains the failures is the one that status advises to hold.
    const groups = running.flatMap((status) => groupToHold(status) ?? []);
    return [...offersOf([...rollouts.flatMap(buildsOf), ...strata, ...groups]), ...collectors];
  },
  held: async (client) => {
    const { builds, collectors, groups, strata } = await client.listHolds();
    return offersOf([
      ...builds.map(({ build }) => build),
      ...collectors.map(({ collectorId, name }) => name ?? String(collectorId)),
      ...groups.map(({ label }) => label),
      ...strata.map(({ label }) => label),
    ]);
  },
};

function offersOf(names: readonly string[]): readonly Offer[] {
  return [...new Set(names)].map((name) => ({ name, help: '' }));
}

/** The rollouts with this id or policy; all current ones, where none is named. */
async function meantBy(client: AdminClient, named: string | undefined): Promise<readonly RolloutStatus[]> {
  const rollouts = await client.listRollouts();
  return rollouts.filter(({ id, policy }) => named === undefined || named === id || named === policy);
}

async function strataOf(client: AdminClient, rollouts: readonly RolloutStatus[]): Promise<readonly string[]> {
  const courses = await Promise.all(rollouts.map(({ id }) => client.course(id)));
  // A stratum that was held for late joiners may have no collector yet.
  return courses.flatMap(({ strata }) => strata.flatMap(({ label, size }) => (size > 0 ? [label] : [])));
}

function buildsOf({ targetBuild, fromBuilds }: RolloutStatus): readonly string[] {
  return [targetBuild, ...fromBuilds];
}
