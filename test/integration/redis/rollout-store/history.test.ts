import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import { eventsReadMax } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { exportRollout } from '../../../../src/redis/rollout-store/export-rollout.ts';
import { policyKeys, rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import { aCollector, aRollout, startedAt } from '../../../support/builders.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisRegister, aRedisStore } from '../../../support/redis/redis-adapters.ts';
import {
  anEvent,
  aPlan,
  loadUpgrade,
  pendingOnes,
  rolloutChange,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const dayMs = 86_400_000;
const historyMs = 3 * dayMs;
const rolloutId = 'production-20260302-1';

function aStore(changes: { historyMs?: number } = { historyMs }) {
  const { commands, keyPrefix } = redis.place();
  return { commands, keyPrefix, store: aRedisStore({ commands, keyPrefix, ...changes }) };
}

type Parts = ReturnType<typeof aStore>;

async function freeze({ store }: Parts, number: number): Promise<void> {
  const attributes = runAtOnce(tabulateAttributes([aCollector()]));
  const id = `production-20260302-${number}`;
  const rollout = aRollout({ id, createdAt: startedAt + number });
  const plan = aPlan(pendingOnes(3, { rolloutId: id }), { rollout, attributes });
  expect(await store.freeze({ ...plan, events: [anEvent('rollout.running')] })).toBe('frozen');
}

async function end({ store }: Parts, number: number): Promise<void> {
  const rollout = aRollout({ id: `production-20260302-${number}`, createdAt: startedAt + number });
  const ending = rolloutChange(rollout, { state: 'succeeded', endedAt: startedAt });
  expect(await store.saveRollout(ending, null)).toBe('saved');
}

describe('what is kept of a rollout', () => {
  it.each([
    ['the history', { historyMs }, historyMs],
    ['90 days unless it is said otherwise', {}, 90 * dayMs],
  ])('lives for good while it is running, and after its end for %s', async (_how, given, livesMs) => {
    const parts = aStore(given);
    await freeze(parts, 1);
    const { rollout, records, events, milestones, groups, attributes } = rolloutKeys(
      parts.keyPrefix,
      rolloutId,
    );
    const keys = [rollout, records, events, milestones, groups, attributes];
    const lives = () => Promise.all(keys.map((key) => parts.commands.pttl(key)));
    expect(await lives()).toEqual(keys.map(() => -1));
    await end(parts, 1);
    for (const leftMs of await lives()) {
      expect(leftMs).toBeGreaterThan(livesMs - 60_000);
      expect(leftMs).toBeLessThanOrEqual(livesMs);
    }
  });

  it('includes its newest ten thousand events', async () => {
    const parts = aStore();
    await freeze(parts, 1);
    const { events: key } = rolloutKeys(parts.keyPrefix, rolloutId);
    const saves = 12;
    for (let rev = 1; rev <= saves; rev += 1) {
      const change = rolloutChange(aRollout({ id: rolloutId, createdAt: startedAt + 1, rev }), {});
      const events = Array(1_000).fill({ ...anEvent('rollout.running'), reason: `save ${rev}` });
      expect(await parts.store.saveRollout({ ...change, events }, null)).toBe('saved');
    }
    // Redis trims whole nodes, of a hundred events each.
    const kept = await parts.commands.xlen(key);
    expect(kept).toBeGreaterThanOrEqual(10_000);
    expect(kept).toBeLessThan(10_200);
    expect(await parts.store.readEvents(rolloutId, { limit: 1 })).toMatchObject([
      { reason: `save ${saves}` },
    ]);
  });

  it('includes the plan and verbs, however many events its upgrades have', async () => {
    const parts = aStore();
    const { store, commands, keyPrefix } = parts;
    await freeze(parts, 1);
    const paused = rolloutChange(aRollout({ id: rolloutId, createdAt: startedAt + 1 }), { state: 'paused' });
    expect(await store.saveRollout({ ...paused, events: [anEvent('rollout.paused')] }, null)).toBe('saved');
    const floods = 21;
    for (let flood = 0; flood < floods; flood += 1) {
      const before = await loadUpgrade(store, 1);
      const after = { ...before, rev: before.rev + 1 };
      const events = Array(500).fill({ ...anEvent('upgrade.queued'), reason: `flood ${flood}` });
      expect(await saveUpgrade(store, { before, after, events })).toBe('saved');
    }
    const resumed = rolloutChange(paused.rollout, { state: 'running' });
    const last = [anEvent('rollout.resumed'), anEvent('rollout.running')];
    expect(await store.saveRollout({ ...resumed, events: last }, null)).toBe('saved');

    const all = await store.readEvents(rolloutId, { limit: eventsReadMax });
    expect(all.length).toBeGreaterThan(10_000);
    expect(all.length).toBeLessThan(10_200);
    const milestones = all.map(({ event }) => event).filter((event) => event !== 'upgrade.queued');
    expect(milestones).toEqual(['rollout.running', 'rollout.resumed', 'rollout.paused', 'rollout.running']);
    expect(all.slice(-3).map(({ event }) => event)).toEqual(['upgrade.queued', ...milestones.slice(-2)]);
    expect(await store.readEvents(rolloutId, { limit: 3 })).toMatchObject(all.slice(0, 3));

    const exported: unknown[] = [];
    for await (const line of exportRollout({ commands, keyPrefix }, rolloutId))
      if (line.kind === 'event') exported.push(line.event);
    expect(exported.toReversed()).toEqual(all);
  });

  it('is removed from the list of its policy when its keys have expired, whatever the history was', async () => {
    const parts = aStore();
    const { commands, keyPrefix } = parts;
    for (const number of [1, 2]) {
      await freeze(parts, number);
      await end(parts, number);
    }
    await commands.del(...Object.values(rolloutKeys(keyPrefix, rolloutId)));
    const { rollouts } = policyKeys(keyPrefix, 'production');
    expect(await commands.zcard(rollouts)).toBe(2);
    await freeze(parts, 3);
    expect(await commands.zrange(rollouts, '0', '-1')).toEqual([
      'production-20260302-2',
      'production-20260302-3',
    ]);
  });

  it('includes the number of its day for two days, because no id may be used twice', async () => {
    const parts = aStore({ historyMs: 90 * dayMs });
    await freeze(parts, 1);
    const leftMs = await parts.commands.pttl(policyKeys(parts.keyPrefix, 'production').number('20260302'));
    expect(leftMs).toBeGreaterThan(dayMs);
    expect(leftMs).toBeLessThanOrEqual(2 * dayMs);
  });
});

describe('builds that were seen', () => {
  it('are deleted when they have not been on offer for the history, and never while they are', async () => {
    const { commands, keyPrefix } = redis.place();
    const register = aRedisRegister({ commands, keyPrefix, historyMs });
    const seen = async (builds: readonly string[], at: number) => [...(await register.firstSeen(builds, at))];
    await register.firstSeen(['1-1', '2-1'], startedAt);
    // Others may be offered to another daemon: both stay.
    await register.firstSeen(['2-1'], startedAt + historyMs);
    expect(await seen(['1-1'], startedAt + historyMs)).toEqual([['1-1', startedAt]]);
    await register.firstSeen(['2-1'], startedAt + 2 * historyMs + 1);
    // Withdrawn for longer: when it comes back, it is as good as new.
    expect(await commands.hkeys(`${keyPrefix}:{fleet}:builds`)).toEqual(['2-1']);
    expect(await commands.zcard(`${keyPrefix}:{fleet}:offered`)).toBe(1);
    const later = startedAt + 3 * historyMs;
    expect(await seen(['1-1', '2-1'], later)).toEqual([
      ['1-1', later],
      ['2-1', startedAt],
    ]);
  });
});
