import type { EpochMs } from '../../base/time.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import type { Attribute } from '../../rollout/model/attributes.ts';
import { type BuildRecord, makeBuildTally } from '../../rollout/report/build-record.ts';
import { recordGroups } from '../../rollout/report/failed-groups.ts';
import type { BuildHistory } from '../ports/build-history.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

export interface RecordBuildsParts {
  readonly store: Pick<RolloutStore, 'pageRollouts' | 'loadView' | 'listUpgrades' | 'loadAttributes'>;
  readonly buildHistory: Pick<BuildHistory, 'recorded' | 'record' | 'read'>;
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
}

/** How many of the latest rollouts are checked at first. Fewer end while no daemon runs. */
const rolloutsMax = 100;
/** How many are checked each further time. Fewer end in between, and an older one is reopened seldom. */
const latestMax = 10;
/** An older one that was reopened has ended again by then. */
const allAgainEvery = 12;
/** Records in one read, which takes 20 ms of this process. */
const recordsPerRead = 1_000;

/**
 * Makes a pass that records what builds did in ended rollouts. Level-triggered: it records each rollout without a record of
 * this end, as after a crash, or when the rollout was opened again. Upgrades of recorded rollouts are not read.
 */
export function makeRecordBuilds({ store, buildHistory, policies }: RecordBuildsParts) {
  let recorded: Map<string, EpochMs> | undefined;
  let passes = 0;
  return async (signal: AbortSignal): Promise<void> => {
    recorded ??= new Map(await buildHistory.recorded());
    const limit = passes % allAgainEvery === 0 ? rolloutsMax : latestMax;
    passes += 1;
    const page = await store.pageRollouts(policies(), { limit });
    for (const { id, kind, endedAt, unreadable } of page?.rollouts ?? []) {
      if (kind !== 'upgrade' || endedAt === null || unreadable !== undefined) continue;
      if (recorded.get(id) === endedAt) continue;
      const known = await failedGroups(buildHistory);
      const record = await tallyRollout(store, { id, endedAt, known }, signal);
      if (signal.aborted) return;
      if (record === undefined) continue;
      await buildHistory.record(record);
      recorded.set(id, endedAt);
    }
  };
}

// Groups of the latest rollouts: each is counted in every later rollout.
const recordsWithGroupsMax = 20;

/** The groups that failed in the latest rollouts. */
async function failedGroups({
  read,
}: Pick<BuildHistory, 'read'>): Promise<ReadonlyArray<readonly Attribute[]>> {
  const records = await read(recordsWithGroupsMax);
  return records.flatMap(({ groups }) =>
    groups.filter(({ failed }) => failed > 0).map(({ attributes }) => attributes),
  );
}

/** @returns undefined if it was opened again meanwhile, has expired, or the signal was aborted */
async function tallyRollout(
  store: RecordBuildsParts['store'],
  {
    id,
    endedAt,
    known,
  }: {
    readonly id: string;
    readonly endedAt: EpochMs;
    readonly known: ReadonlyArray<readonly Attribute[]>;
  },
  signal: AbortSignal,
): Promise<BuildRecord | undefined> {
  const view = await store.loadView(id, { now: endedAt, overdueBefore: 0, pageSize: 1 });
  if (view?.rollout.endedAt !== endedAt) return undefined;
  const tally = makeBuildTally();
  const planned = countUpgradesIn(view, () => true);
  for (let offset = 0; offset < planned && !signal.aborted; offset += recordsPerRead)
    for (const upgrade of await store.listUpgrades(id, { offset, limit: recordsPerRead })) tally.add(upgrade);
  const held = view.groups.strata.flatMap(({ attributes }) => (attributes === undefined ? [] : [attributes]));
  const record = tally.record(view.rollout, endedAt, view.groups);
  const isAnyKnown = held.length + known.length > 0;
  if (!isAnyKnown && tally.outcomes.failed.size === 0) return { ...record, groups: [] };
  const table = await store.loadAttributes(id);
  const groups = table === undefined ? [] : recordGroups(table, tally.outcomes, [...held, ...known]);
  return { ...record, groups };
}
