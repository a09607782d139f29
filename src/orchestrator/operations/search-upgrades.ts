import type { Clock } from '../../base/time.ts';
import { type Attribute, membersWith } from '../../rollout/model/attributes.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { failedStates, runningStates, type Upgrade, type UpgradeState } from '../../rollout/model/upgrade.ts';
import { makeStratumPlace, type StratumPlace } from '../../rollout/planning/former-stratum.ts';
import { isCounted, makeUpgradeMatcher, type UpgradeFilter } from '../../rollout/status/find-upgrades.ts';
import { loadRolloutSummary, type ViewParts } from '../records/read-records.ts';
import type { SharedAttributes } from '../records/shared-attributes.ts';

export interface UpgradeSearch extends UpgradeFilter {
  /** `next` of the page before; undefined: from the beginning. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface FoundUpgrades {
  readonly upgrades: readonly Upgrade[];
  /** Names the stratum and the held group of each of them. */
  readonly placeOf: (identity: Upgrade['identity']) => StratumPlace;
  /** How many match over all pages; null if only reading all pages can show that. */
  readonly total: number | null;
  /** The `after` of the following page; null: no more pages. A page may be short or empty although others follow. */
  readonly next: string | null;
}

type SearchParts = ViewParts & { readonly clock: Clock; readonly sharedAttributes: SharedAttributes };

/** Records in one read, which takes 10 ms of this process. 100,000 records take 3.5 s in 20 answers. */
const recordsPerRead = 250;
/** The maximum of records that one answer reads. The client continues where it ended. */
const recordsPerAnswer = 5_000;

/**
 * A page of the matching upgrades. States with an index are read through it, the latest failure first; all others in plan
 * order. undefined: there is no such rollout.
 */
export async function searchUpgrades(
  parts: SearchParts,
  rolloutId: string,
  search: UpgradeSearch,
): Promise<FoundUpgrades | undefined> {
  const view = await loadRolloutSummary(parts, rolloutId, parts.clock.now());
  if (view === undefined) return undefined;
  const matches = makeUpgradeMatcher(search, view.groups);
  const { end, read, from } =
    search.attributes === undefined
      ? listOf(parts, view, search)
      : await listWith(parts, rolloutId, search.attributes);
  const found: Upgrade[] = [];
  let at = Math.max(from, Number(search.after ?? from));
  const stopAt = Math.min(end, at + Math.max(recordsPerAnswer, search.limit));
  while (at < stopAt && found.length < search.limit) {
    const most = Math.min(recordsPerRead, stopAt - at);
    // If nearly all records match, smaller reads avoid reading records twice.
    const count = isCounted(search) ? Math.min(most, search.limit - found.length) : most;
    const page = await read(at, count);
    const seen = page.findIndex((upgrade) => {
      if (matches(upgrade)) found.push(upgrade);
      return found.length === search.limit;
    });
    at += seen < 0 ? count : seen + 1;
  }
  return {
    upgrades: found,
    placeOf: await placesIn(parts, view, found),
    total: isCounted(search) ? countIn(view, search) : null,
    next: at < end ? String(at) : null,
  };
}

/** The attributes are read only where a collector was moved to a held group. */
async function placesIn(
  { store, sharedAttributes }: SearchParts,
  { rollout, groups }: RolloutView,
  found: readonly Upgrade[],
): Promise<FoundUpgrades['placeOf']> {
  const isMoved = ({ identity }: Upgrade) => groups.strata[identity.stratum]?.attributes !== undefined;
  const table = found.some(isMoved) ? await sharedAttributes.tableOf(store, rollout) : undefined;
  return makeStratumPlace(groups, rollout.policy.spreadBy, table);
}

interface UpgradeList {
  /** Positions in the list: the first that may match, and the one after the last. */
  readonly from: number;
  readonly end: number;
  read(offset: number, limit: number): Promise<readonly Upgrade[]>;
}

/** The upgrades of collectors with these attributes; empty if the plan's attributes are unknown. */
async function listWith(
  { store }: Pick<ViewParts, 'store'>,
  rolloutId: string,
  attributes: readonly Attribute[],
): Promise<UpgradeList> {
  const table = await store.loadAttributes(rolloutId);
  const ids = table === undefined ? [] : membersWith(table, attributes);
  return {
    from: 0,
    end: ids.length,
    read: async (offset, limit) =>
      (await store.loadUpgrades(rolloutId, ids.slice(offset, offset + limit))).upgrades,
  };
}

const dueStates: readonly UpgradeState[] = [...runningStates, 'deferred'];

/** The index to read: the smallest one with all of the states. */
function listOf(
  { store }: Pick<ViewParts, 'store'>,
  view: RolloutView,
  { states, wave }: UpgradeFilter,
): UpgradeList {
  const { id } = view.rollout;
  const isWithin = (all: readonly UpgradeState[]) => states?.every((state) => all.includes(state)) === true;
  const endOf = (all: readonly UpgradeState[]) => countIn(view, { states: all });
  const indexed = (all: readonly UpgradeState[], list: (limit: number) => Promise<readonly Upgrade[]>) => ({
    from: 0,
    end: endOf(all),
    read: async (offset: number, limit: number) => (await list(offset + limit)).slice(offset),
  });
  if (isWithin(failedStates))
    return indexed(failedStates, (limit) => store.listMissed(id, { kind: 'failed', limit }));
  for (const kind of ['withdrawn', 'retrying'] as const)
    if (isWithin([kind])) return indexed([kind], (limit) => store.listMissed(id, { kind, limit }));
  if (isWithin(dueStates)) return indexed(dueStates, (limit) => store.listDue(id, limit));
  if (isWithin(['pending'])) {
    const end = endOf(['pending']);
    return {
      from: 0,
      end,
      read: (offset, limit) => store.listUpgrades(id, { offset, limit, state: 'pending' }),
    };
  }
  // In plan order the members of a wave are adjacent.
  const sizes = view.rollout.waves.map(({ size, joined }) => size + joined);
  const sum = (count: number) => sizes.slice(0, count).reduce((total, size) => total + size, 0);
  return {
    from: wave === undefined ? 0 : sum(wave),
    end: sum(wave === undefined ? sizes.length : wave + 1),
    read: (offset, limit) => store.listUpgrades(id, { offset, limit }),
  };
}

function countIn(view: RolloutView, { states, wave }: UpgradeFilter): number {
  const waves = wave === undefined ? view.waves : view.waves.slice(wave, wave + 1);
  return waves
    .flatMap(({ counts }) => Object.entries(counts))
    .filter(([state]) => states === undefined || (states as readonly string[]).includes(state))
    .reduce((total, [, count]) => total + count, 0);
}
