import { sumOf } from '../../base/grouping.ts';
import { keepLatest } from '../../base/keep-latest.ts';
import type { SharedAttribute } from '../../contract/admin/rollout-status.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import {
  type Attribute,
  type AttributeTable,
  attributesIn,
  membersWith,
  type Outcomes,
} from '../../rollout/model/attributes.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { isFailed } from '../../rollout/model/upgrade.ts';
import { type CauseMembers, type CauseUpgrades, membersByCause } from '../../rollout/status/causes.ts';
import { findSharedAttribute } from '../../rollout/status/shared-attribute.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

type AttributeStore = Pick<RolloutStore, 'loadAttributes' | 'listOutcomes'>;

export type SharedAttributes = ReturnType<typeof makeSharedAttributes>;

interface CachedResult {
  /** The inputs of the result, which is computed again when failures or held groups change. */
  readonly mark: string;
  /** Number of ended upgrades. With more than `exactMax`, the result is computed again when it has grown by `moreEnded`. */
  readonly ended: number;
  readonly found: Promise<SharedAttribute | undefined>;
}

// Fewer failures are no evidence, so nothing is read for them.
const failuresMin = 3;
const moreEnded = 1.1;
// So few take 3 ms, and people compare the figures with those beside them.
const exactMax = 1_000;

// Each takes as long as all failures together.
const causesMax = 2;

// A few policies, each with a rollout and a rollback. With more rollouts, results are only computed more often.
const rolloutsKeptMax = 16;
// A table of 100,000 collectors with 73 attributes takes 12 MB.
const tablesKeptMax = 2;

/**
 * Finds what the failures of rollouts have in common, and computes it again only if it may have changed. This takes 30 ms
 * for 10,000 collectors with 73 attributes, and 0.3 s for 100,000.
 */
export function makeSharedAttributes() {
  const ofCausesKept = makeKept();
  const kept = makeKept();
  const tableOf = makeTables();

  const compute = async (store: AttributeStore, { rollout }: RolloutView) => {
    const table = await tableOf(store, rollout);
    if (table === undefined) return undefined;
    return findApartFromHeld(table, await store.listOutcomes(rollout.id), rollout);
  };

  return {
    tableOf,
    /**
     * What the failures of one cause share, or the failed attempts while they are retried: for people, who see it before
     * the failures together show it.
     */
    ofCauses: async (
      store: AttributeStore,
      view: RolloutView,
      upgrades: CauseUpgrades,
    ): Promise<SharedAttribute | undefined> => {
      const shown = view.rollout.state === 'held' ? 'held' : 'running';
      const all = membersByCause(upgrades);
      // Failures have stopped a held rollout. What is retried has not, and does not change what is known of them.
      const stopping = shown === 'held' ? all.filter(({ ended }) => ended > 0) : [];
      const searches = (stopping.length === all.length ? [all] : [stopping, all])
        .map(causesToSearch)
        .filter((causes) => causes.length > 0);
      if (searches.length === 0) return undefined;
      const { id, plan } = view.rollout;
      const step = (count: number) =>
        count <= exactMax ? count : Math.floor(Math.log(count) / Math.log(moreEnded)) + exactMax;
      const mark = JSON.stringify([
        plan.groupsRev,
        shown,
        searches.map((causes) =>
          causes.map(({ of, text, collectorIds }) => [of, text, step(collectorIds.length)]),
        ),
      ]);
      const ended = countUpgradesIn(view, (state) => isFailed(state) || state === 'succeeded');
      return ofCausesKept(id, { mark, ended }, async () =>
        sharedByOneCause(await tableOf(store, view.rollout), await store.listOutcomes(id), {
          searches,
          shown,
        }),
      );
    },
    /** The attributes of one collector when its plan was frozen; empty where they are unreadable. */
    ofCollector: async (
      store: AttributeStore,
      rollout: RolloutView['rollout'],
      collectorId: number,
    ): Promise<readonly Attribute[]> => {
      const table = await tableOf(store, rollout);
      return table === undefined ? [] : attributesIn(table, collectorId);
    },
    /** The shared attribute of a rollout's failures; undefined if there is none, or attributes are unreadable. */
    of: (store: AttributeStore, view: RolloutView): Promise<SharedAttribute | undefined> => {
      const { id, plan, strata } = view.rollout;
      const failed = countUpgradesIn(view, isFailed);
      if (failed < failuresMin) return Promise.resolve(undefined);
      const mark = JSON.stringify([failed, plan.groupsRev, strata.held.map(({ label }) => label)]);
      const ended = failed + countUpgradesIn(view, (state) => state === 'succeeded');
      return kept(id, { mark, ended }, () => compute(store, view));
    },
  };
}

/**
 * A held group no longer explains new failures, so its members are not counted. Without another explanation, the held group is
 * still the best one.
 */
function findApartFromHeld(
  table: AttributeTable,
  outcomes: Outcomes,
  { strata }: Pick<RolloutView['rollout'], 'strata'>,
): SharedAttribute | undefined {
  const groups = strata.held.flatMap(({ attributes }) => (attributes === undefined ? [] : [attributes]));
  const held = new Set(groups.flatMap((attributes) => membersWith(table, attributes)));
  if (held.size === 0) return findSharedAttribute(table, outcomes);
  const without = (ids: ReadonlySet<number>) => new Set([...ids].filter((id) => !held.has(id)));
  const others = { failed: without(outcomes.failed), succeeded: without(outcomes.succeeded) };
  const found = findSharedAttribute(table, others);
  return found === undefined ? findSharedAttribute(table, outcomes) : { ...found, apartFromHeld: true };
}

/** The causes whose collectors may have something in common: the most frequent, and all together. */
function causesToSearch(all: readonly CauseMembers[]): readonly CauseMembers[] {
  const frequent = all.filter(({ collectorIds }) => collectorIds.length >= failuresMin).slice(0, causesMax);
  const together = all.flatMap(({ collectorIds }) => collectorIds);
  // A fault may have several reasons, none of them often enough.
  if (all.length < 2 || together.length < failuresMin) return frequent;
  const of = all.some((each) => each.of === 'retrying') ? 'retrying' : 'failed';
  const ended = sumOf(all, (each) => each.ended);
  return [...frequent, { of, text: '', collectorIds: together, ended }];
}

/** What the failures of the first cause that has something in common share. */
function sharedByOneCause(
  table: AttributeTable | undefined,
  { failed, succeeded }: Awaited<ReturnType<AttributeStore['listOutcomes']>>,
  {
    searches,
    shown,
  }: {
    readonly searches: ReadonlyArray<readonly CauseMembers[]>;
    readonly shown: 'running' | 'held';
  },
): SharedAttribute | undefined {
  if (table === undefined) return undefined;
  for (const causes of searches) {
    for (const { of, text, ended, collectorIds } of causes) {
      const ofCause = new Set(collectorIds);
      const others = new Set([...succeeded, ...failed].filter((id) => !ofCause.has(id)));
      const found = findSharedAttribute(
        table,
        { failed: ofCause, succeeded: others },
        { of: causes.length + 1, shown },
      );
      if (found !== undefined) return { ...found, cause: { of, text, ended } };
    }
  }
  return undefined;
}

/** Reads the attributes of a plan, and keeps those of the last few; undefined: unreadable. */
function makeTables() {
  const tables = new Map<string, AttributeTable>();
  return async (store: AttributeStore, { id, plan }: RolloutView['rollout']) => {
    const key = `${id}/${plan.groupsRev}`;
    const known = tables.get(key);
    if (known !== undefined) return known;
    const table = await store.loadAttributes(id);
    if (table !== undefined) keepLatest(tables, key, table, tablesKeptMax);
    return table;
  };
}

/** Keeps the result of a rollout while its mark is the same and not many more upgrades have ended. */
function makeKept() {
  const kept = new Map<string, CachedResult>();
  return (
    id: string,
    { mark, ended }: Pick<CachedResult, 'mark' | 'ended'>,
    compute: () => CachedResult['found'],
  ): CachedResult['found'] => {
    const before = kept.get(id);
    const isFew = ended <= exactMax && ended !== before?.ended;
    if (before !== undefined && before.mark === mark && !isFew && ended <= before.ended * moreEnded)
      return before.found;
    const found = compute();
    keepLatest(kept, id, { mark, ended, found }, rolloutsKeptMax);
    // Attributes that could not be read are read again.
    found.catch(() => kept.delete(id));
    return found;
  };
}
