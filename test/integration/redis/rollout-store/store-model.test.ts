import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RolloutStore, UpgradeChange } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { makeMemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import type { Outcomes } from '../../../../src/rollout/model/attributes.ts';
import type { Rollout, StoredView } from '../../../../src/rollout/model/rollout.ts';
import {
  holdsSlot,
  isFailed,
  isLost,
  isOnBuild,
  type Upgrade,
  type UpgradeState,
  upgradeStates,
  weightOf,
} from '../../../../src/rollout/model/upgrade.ts';
import { aRollout, startedAt, type UpgradeFigures } from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import {
  anEvent,
  anyProgress,
  aPlan,
  changeTo,
  lanes,
  loadView,
  pendingOnes,
  rolloutWith,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const rolloutId = 'production-20260302-1';
const otherId = 'production-20260302-2';
const everything = { offset: 0, limit: 100 };

describe('the store in Redis, the same with each script sent twice, and its model in memory', () => {
  it('give the same answers to any calls, and their counters and lists match the records (P9)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aWish(), { maxLength: 30 }), async (wishes) => {
        const [model, once, twice] = [
          await playIn(makeMemoryRolloutStore(), wishes),
          await playIn(makeRedisStore(), wishes),
          await playIn(makeRedisStore('twice'), wishes),
        ];
        expect(once).toEqual(model);
        expect(twice).toEqual(model);
      }),
      { numRuns: 60 },
    );
  });
});

/** @returns what the store answered to each, and what can be read of it in the end */
async function playIn(store: RolloutStore, wishes: readonly Wish[]): Promise<unknown> {
  await store.freeze({
    rollout: rolloutWith('open', 'waiting'),
    upgrades: pendingOnes(6, mixed).toReversed(),
    groups: mixedGroups(2),
    events: [anEvent('rollout.planned')],
  });
  const answers: unknown[] = [];
  for (const [index, wish] of wishes.entries())
    answers.push(await grant(store, wish, uniqueInstant(wish, index)));

  const records = await store.listUpgrades(rolloutId, everything);
  const view = await loadView(store, { now: 30_000, overdueBefore: 30_000, pageSize: 3 });
  expectCounted(view, records);
  await expectListed(store, records);
  const policies = ['other', 'production'];
  return {
    answers,
    records,
    view: withoutNoise(view),
    groups: await store.loadGroups(rolloutId),
    outcomes: sortedOutcomes(await store.listOutcomes(rolloutId)),
    events: await store.readEvents(rolloutId, { limit: 99 }),
    freshIntents: await store.countFreshIntents(rolloutId, 3_600_000),
    named: await Promise.all(
      [...new Set(records.map(nameOf)), 'nobody'].map(async (name) => store.findNamed(rolloutId, name)),
    ),
    members: (await store.listMemberIds(rolloutId)).toSorted((a, b) => a - b),
    active: await store.activeRolloutIds(policies),
    current: await store.currentRollouts(policies),
    kept: await store.listRollouts(policies),
    next: await store.nextRolloutNumber('production', '20260302'),
  };
}

function nameOf({ identity: { collectorName } }: Upgrade): string {
  return collectorName;
}

function sortedOutcomes({ failed, succeeded }: Outcomes) {
  return {
    failed: [...failed].toSorted((a, b) => a - b),
    succeeded: [...succeeded].toSorted((a, b) => a - b),
  };
}

const saves = ['save', 'brake', 'repeat', 'rival', 'outdated', 'many', 'move'] as const;
const others = ['intent', 'admit', 'rejoin', 'join', 'replan', 'freeze', 'rollback'] as const;
const rolloutSaves = {
  pause: [{ state: 'paused' }, 'set'],
  resume: [{ state: 'running' }, 'lift'],
  open: [rolloutWith('passed', 'open'), 'keep'],
  await: [{ state: 'awaitingApproval' }, 'keep'],
  end: [{ state: 'succeeded', endedAt: startedAt }, 'keep'],
  reopen: [{ state: 'running', endedAt: null }, 'keep'],
} as const;
const rolloutWishes = Object.keys(rolloutSaves) as readonly (keyof typeof rolloutSaves)[];

interface Wish {
  readonly kind: (typeof saves)[number] | (typeof others)[number] | keyof typeof rolloutSaves;
  readonly collectorId: number;
  readonly state: UpgradeState;
  readonly instant: number;
  /** Made from a rollout that has changed since. */
  readonly isLate: boolean;
  readonly fence: number;
}

function aWish(): fc.Arbitrary<Wish> {
  return fc.record({
    kind: fc.constantFrom(...saves, ...saves, ...others, ...others, 'admit', 'move', ...rolloutWishes),
    collectorId: fc.integer({ min: 1, max: 8 }),
    state: fc.constantFrom(...upgradeStates),
    instant: fc.integer({ min: 1, max: 1_000 }),
    isLate: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
    fence: fc.integer({ min: 1, max: 4 }),
  });
}

/** No two changes are of one instant, so that every list has one order. */
function uniqueInstant({ instant }: Wish, index: number): number {
  return instant * 64 + index;
}

/** Two waves, three strata, two lanes, two caps; collectors 7 and 8 are not in it from the start. */
function mixed(index: number): Partial<UpgradeFigures> {
  const domains = [[0], [1], [0, 1], []][index % 4] ?? [];
  return { wave: index % 2, lane: index % 2, stratum: index % 3, domains };
}

function mixedGroups(laneCount: number) {
  const domains = [
    { label: 'a', cap: 1 },
    { label: 'b', cap: 2 },
  ];
  return { ...lanes(laneCount), domains };
}

/** @returns what the store answered */
async function grant(store: RolloutStore, wish: Wish, instant: number): Promise<unknown> {
  const rollout = await store.loadRollout(rolloutId);
  if (rollout === undefined) throw new Error('there is no rollout');
  const { kind, isLate, fence } = wish;
  const expectedRev = isLate ? rollout.rev - 1 : rollout.rev;
  const next = { ...rollout, rev: rollout.rev + 1 };
  switch (kind) {
    case 'join': {
      const upgrades = pendingOnes(8, mixed).filter((each) => each.identity.collectorId === wish.collectorId);
      const joining = { rollout: next, upgrades, groups: mixedGroups(3), events: [anEvent('wave.opened')] };
      const join = () => store.join(joining, expectedRev, fence);
      return [await join(), await join()];
    }
    case 'replan': {
      const upgrades = [...pendingOnes(3, mixed), changedOf(pendingOnes(4, mixed)[3], wish.state, instant)];
      return store.replan({ rollout: next, upgrades, groups: mixedGroups(4), events: [] }, expectedRev);
    }
    case 'freeze':
    case 'rollback': {
      const back = { kind: 'rollback', rollback: { original: rolloutId } } as const;
      // Late: once more under the id that is taken.
      const id = isLate ? rolloutId : otherId;
      const other = aRollout({ id, createdAt: startedAt + 1, ...(kind === 'rollback' ? back : {}) });
      return store.freeze(aPlan([], { rollout: other }));
    }
    case 'admit':
    case 'intent':
    case 'rejoin':
    case 'save':
    case 'brake':
    case 'repeat':
    case 'rival':
    case 'outdated':
    case 'many':
    case 'move':
      return grantOfUpgrade(store, { ...wish, kind, instant, rolloutRev: expectedRev });
    default: {
      const [changes, brake] = rolloutSaves[kind];
      const changed = { ...next, ...changes, rev: next.rev } satisfies Rollout;
      const save = { rollout: changed, expectedRev, events: [anEvent('rollout.paused')], brake };
      return [await store.saveRollout(save, fence), await store.saveRollout(save, null)];
    }
  }
}

async function grantOfUpgrade(
  store: RolloutStore,
  wish: Wish & {
    readonly kind: (typeof saves)[number] | (typeof others)[number];
    readonly rolloutRev: number;
  },
): Promise<unknown> {
  const { collectorId, state, instant, rolloutRev, fence } = wish;
  const [before, beside] = (await store.loadUpgrades(rolloutId, [collectorId, (collectorId % 8) + 1]))
    .upgrades;
  if (before === undefined) return undefined;
  const change = changeTo(before, anyProgress(state, instant), instant);
  switch (wish.kind) {
    case 'brake':
      return saveUpgrade(store, change, 3);
    case 'repeat':
      return [await saveUpgrade(store, change), await saveUpgrade(store, change)];
    case 'rival': {
      const rival = changeTo(before, anyProgress('queued', instant + 32), instant);
      return [await saveUpgrade(store, change), await saveUpgrade(store, rival)];
    }
    case 'outdated':
      return saveUpgrade(store, { ...change, before: { ...before, rev: 0 } });
    case 'many': {
      const second = beside && changeTo(beside, anyProgress('failed', instant + 32), instant);
      const changes = [change, ...(second === undefined ? [] : [second])];
      const braking = changes.map((each) => ({ ...each, brakeAbove: 3 }));
      return store.saveUpgrades(rolloutId, braking, { rolloutRev, fence });
    }
    case 'move':
      return [await saveUpgrade(store, change), await saveUpgrade(store, movedOf(change.after))];
    case 'rejoin':
      return store.rejoin(rolloutId, [change], rolloutRev);
    case 'intent':
      return store.saveIntent(change, rolloutRev);
    case 'admit': {
      const domains = (await store.loadGroups(rolloutId))?.domains ?? [];
      const second = beside && changeTo(beside, anyProgress('queued', instant + 32), instant);
      const changes = [change, ...(second === undefined ? [] : [second])];
      return store.admit({ rolloutId, rolloutRev, slots: 3, domains, changes }, fence);
    }
    default:
      return saveUpgrade(store, change);
  }
}

/** As a held group is moved: another lane and stratum in the same state. */
function movedOf(before: Upgrade): UpgradeChange {
  const { lane, stratum } = before.identity;
  const identity = { ...before.identity, lane: (lane + 1) % 2, stratum: (stratum + 1) % 3 };
  return { before, after: { ...before, identity, rev: before.rev + 1 }, events: [] };
}

function changedOf(before: Upgrade | undefined, state: UpgradeState, instant: number): Upgrade {
  if (before === undefined) throw new Error('there is one');
  return changeTo(before, anyProgress(state, instant)).after;
}

/** The lists of a part, against all the records in plan order. */
async function expectListed(store: RolloutStore, records: readonly Upgrade[]): Promise<void> {
  expect(records.map(({ identity: { order } }) => order)).toEqual(
    records.map(({ identity: { order } }) => order).toSorted((a, b) => a - b),
  );
  const byPlace = (a: Upgrade, b: Upgrade) =>
    a.identity.wave - b.identity.wave || a.identity.lane - b.identity.lane;
  for (const state of upgradeStates) {
    for (const wave of [undefined, 1]) {
      const page = { offset: 1, limit: 2, state, ...(wave === undefined ? {} : { wave }) };
      const expected = records.filter(
        ({ progress, identity }) => progress.state === state && (wave ?? identity.wave) === identity.wave,
      );
      if (state === 'pending') expected.sort(byPlace);
      expect(await store.listUpgrades(rolloutId, page)).toEqual(expected.slice(1, 3));
    }
  }
  const ofWave = records.filter(({ identity: { wave } }) => wave === 1);
  expect(await store.listUpgrades(rolloutId, { offset: 1, limit: 2, wave: 1 })).toEqual(ofWave.slice(1, 3));

  const instantOf = ({ progress }: Upgrade) =>
    'endedAt' in progress ? -progress.endedAt : 'dueAt' in progress ? progress.dueAt : 0;
  const inTurn = (holds: (state: UpgradeState) => boolean) =>
    records.filter(({ progress: { state } }) => holds(state)).sort((a, b) => instantOf(a) - instantOf(b));
  const missed = (kind: 'failed' | 'withdrawn' | 'retrying', limit: number) =>
    store.listMissed(rolloutId, { kind, limit });
  for (const limit of [0, 2]) {
    expect(await missed('failed', limit)).toEqual(inTurn(isFailed).slice(0, limit));
    expect(await missed('withdrawn', limit)).toEqual(
      inTurn((state) => state === 'withdrawn').slice(0, limit),
    );
    expect(await missed('retrying', limit)).toEqual(inTurn((state) => state === 'retrying').slice(0, limit));
    expect(await store.listDue(rolloutId, limit)).toEqual(inTurn(isDueByItself).slice(0, limit));
  }
}

function isDueByItself(state: UpgradeState): boolean {
  return ['queued', 'starting', 'upgrading', 'verifying', 'deferred'].includes(state);
}

/** Everything that is counted, against the records themselves. */
function expectCounted(view: StoredView, records: readonly Upgrade[]): void {
  const count = (wanted: (record: Upgrade) => boolean) => records.filter(wanted).length;
  const weigh = (of: readonly Upgrade[]) => of.reduce((sum, record) => sum + weightOf(record), 0);
  view.waves.forEach((summary, wave) => {
    for (const state of upgradeStates)
      expect(summary.counts[state]).toBe(
        count((record) => record.identity.wave === wave && record.progress.state === state),
      );
    const members = records.filter((record) => record.identity.wave === wave);
    expect(summary.weight).toBeCloseTo(weigh(members), 9);
    expect(summary.lost).toBe(members.filter(isLost).length);
    expect(summary.onBuild).toBe(members.filter(isOnBuild).length);
  });
  expect(view.slotsTaken).toBe(count(({ progress: { state } }) => holdsSlot(state)));
  const taken = new Map<number, number>();
  for (const {
    progress: { state },
    identity: { domains },
  } of records)
    if (holdsSlot(state)) for (const domain of domains) taken.set(domain, (taken.get(domain) ?? 0) + 1);
  expect(view.domainsTaken).toEqual(taken);
  const statesOf = {
    waiting: ['pending', 'retrying'],
    active: ['queued', 'starting', 'upgrading', 'verifying'],
    succeeded: ['succeeded'],
    failed: ['failed', 'timedOut', 'unconfirmed'],
  } as const;
  const places = new Set(records.map(({ identity: { stratum, wave } }) => `${stratum}/${wave}`));
  for (const place of places) {
    const members = records.filter(({ identity: { stratum, wave } }) => `${stratum}/${wave}` === place);
    const summary = view.strata.find(({ stratum, wave }) => `${stratum}/${wave}` === place);
    for (const [figure, states] of Object.entries(statesOf)) {
      const expected = members.filter(({ progress: { state } }) =>
        (states as readonly string[]).includes(state),
      ).length;
      expect(summary?.[figure as keyof typeof statesOf] ?? 0).toBe(expected);
    }
    expect(summary?.weight ?? 0).toBeCloseTo(weigh(members), 9);
  }
  for (const { stratum, wave, weight, waiting, active, succeeded, failed } of view.strata) {
    expect(places).toContain(`${stratum}/${wave}`);
    expect(weight + waiting + active + succeeded + failed).toBeGreaterThan(0);
  }
}

/** Sums of fractions differ in their last digit. */
function withoutNoise(view: StoredView | undefined): unknown {
  const round = <T extends { readonly weight: number }>(of: T) => ({
    ...of,
    weight: Number(of.weight.toFixed(6)),
  });
  return { ...view, waves: view?.waves.map(round), strata: view?.strata.map(round) };
}

function makeRedisStore(how: 'once' | 'twice' = 'once'): RolloutStore {
  const { commands, keyPrefix } = redis.place();
  const sent = how === 'twice' ? echoingCommands(commands) : commands;
  return aRedisStore({ commands: sent, keyPrefix });
}
