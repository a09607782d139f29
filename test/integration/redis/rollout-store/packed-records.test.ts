import { beforeEach, describe, expect, it } from 'vitest';
import { packHistory } from '../../../../src/orchestrator/lead/pack-history.ts';
import type { RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import { listAllUpgrades } from '../../../../src/orchestrator/records/read-records.ts';
import type { RedisConnection } from '../../../../src/redis/connection/connection.ts';
import { exportRollout } from '../../../../src/redis/rollout-store/export-rollout.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { aRollout, aWave, because, startedAt } from '../../../support/builders.ts';
import { dyingCommands, onScripts } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import { makeMemoryBuildHistory } from '../../../support/store/memory-build-history.ts';
import {
  anyProgress,
  aPlan,
  changeTo,
  findUpgrade,
  loadView,
  rolloutChange,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const redis = useRedis();
const id = 'production-20260302-1';
const planned = 1_700;
const endedAt = startedAt + 60_000;
const never = new AbortController().signal;
let connection: RedisConnection;
let keyPrefix: string;
let store: RolloutStore;

/** Every hundredth failed, every fiftieth left the fleet; names are hard on a format. */
function upgradeOf(index: number): Upgrade {
  const state = index % 100 === 7 ? 'failed' : index % 50 === 3 ? 'withdrawn' : 'succeeded';
  const weight = state === 'failed' ? 1 : 0;
  const reason = `näme "${index}" \\ud83d\n\u2028 ${state}`;
  return anEndedOne(
    state,
    { endedAt: endedAt + index, reason: because(reason), weight },
    {
      collectorId: 10_000 - index,
      collectorName: `svr "${index}" 🚀`,
      order: index,
      wave: index < 20 ? 0 : 1,
    },
  );
}

const upgrades = Array.from({ length: planned }, (_, index) => upgradeOf(index));

beforeEach(async () => {
  connection ??= redis.connect();
  keyPrefix = redis.config().keyPrefix;
  store = aRedisStore({ commands: connection.commands, keyPrefix });
  const waves = [aWave({ state: 'passed', size: 20 }), aWave({ state: 'passed', size: planned - 20 })];
  const rollout = aRollout({ waves });
  await store.freeze(aPlan(upgrades, { rollout }));
  const ending = rolloutChange(rollout, { state: 'finishedWithFailures', endedAt });
  expect(await store.saveRollout(ending, null)).toBe('saved');
});

const pack = (of: RolloutStore = store) => of.packEnded(['production'], endedAt + 1, never);
const keys = () => rolloutKeys(keyPrefix, id);
const recordsLeft = () => connection.commands.hlen(keys().records);

async function readAll() {
  const ids = upgrades.map(({ identity: { collectorId } }) => collectorId);
  const lines = [];
  for await (const line of exportRollout({ commands: connection.commands, keyPrefix }, id)) lines.push(line);
  return {
    lines,
    all: await store.listUpgrades(id, { offset: 0, limit: 10_000 }),
    page: await store.listUpgrades(id, { offset: 495, limit: 10 }),
    wave: await store.listUpgrades(id, { offset: 0, limit: 100, wave: 0 }),
    succeeded: await listAllUpgrades(store, id, { state: 'succeeded' }),
    failed: await listAllUpgrades(store, id, { state: 'failed' }),
    missed: await store.listMissed(id, { kind: 'failed', limit: 10_000 }),
    withdrawn: await store.listMissed(id, { kind: 'withdrawn', limit: 10_000 }),
    one: await findUpgrade(store, 9_998),
    none: await findUpgrade(store, 1),
    some: await store.loadUpgrades(id, [...ids.toReversed(), 1]),
  };
}

describe('the records of a rollout that is over', () => {
  it('are packed except its failures, and every reader gets the same result', async () => {
    const before = await readAll();
    const bytesOf = async (key: string) => Number(await connection.client.memory('USAGE', key, 'SAMPLES', 0));
    const bytesBefore = await bytesOf(keys().records);
    await pack();
    expect(await recordsLeft()).toBe(upgrades.filter(({ progress: { state } }) => state === 'failed').length);
    expect(await readAll()).toEqual(before);
    expect((await bytesOf(keys().records)) + (await bytesOf(keys().packed))).toBeLessThan(bytesBefore / 5);
    const [ofRollout, ofPacks] = await Promise.all(
      [keys().rollout, keys().packed].map((key) => connection.commands.pttl(key)),
    );
    expect(Math.abs(Number(ofRollout) - Number(ofPacks))).toBeLessThan(10_000);
  });

  it('are left alone before their time, and while the rollout is running', async () => {
    await store.packEnded(['production', 'other'], endedAt, never);
    expect(await recordsLeft()).toBe(planned);
    const rollout = aRollout({ id: 'other-20260302-1' });
    const own = upgrades.map((upgrade) => ({
      ...upgrade,
      identity: { ...upgrade.identity, rolloutId: rollout.id },
    }));
    await store.freeze(aPlan(own, { rollout }));
    await store.packEnded(['other'], Number.MAX_SAFE_INTEGER, never);
    expect(await connection.commands.hlen(rolloutKeys(keyPrefix, rollout.id).records)).toBe(planned);
  });

  it('are complete when the packing leader is killed at any point, and the next leader continues', async () => {
    const before = await readAll();
    for (let killedAfter = 1; killedAfter <= 2; killedAfter += 1) {
      let packs = 0;
      const commands = onScripts(connection.commands, async (send, args) => {
        const isPack = args.some((arg) => arg === keys().packed);
        if (isPack) packs += 1;
        if (isPack && packs > killedAfter) throw new Error('killed');
        const answer = await send();
        if (isPack && packs === killedAfter) throw new Error('killed');
        return answer;
      });
      await expect(pack(aRedisStore({ commands, keyPrefix }))).rejects.toThrow('killed');
      expect(await readAll()).toEqual(before);
    }
    await pack();
    expect(await recordsLeft()).toBe(17);
    const { commands } = connection;
    const twice = aRedisStore({ commands: dyingCommands(commands, ':packed'), keyPrefix });
    // Nothing is left to do, so nothing is written.
    await pack(twice);
    expect(await readAll()).toEqual(before);
  });

  it('are not packed when one of them has changed since it was read', async () => {
    const [first = upgradeOf(0)] = upgrades;
    const change = changeTo(first, anyProgress('rolledBack', endedAt), endedAt);
    let isChanged = false;
    const commands = onScripts(connection.commands, async (send, args) => {
      if (!isChanged && args.some((arg) => arg === keys().packed)) {
        isChanged = true;
        expect(await saveUpgrade(store, change)).toBe('saved');
      }
      return send();
    });
    await pack(aRedisStore({ commands, keyPrefix }));
    expect(await findUpgrade(store, first.identity.collectorId)).toEqual(change.after);
    await pack();
    expect(await findUpgrade(store, first.identity.collectorId)).toEqual(change.after);
    expect(await recordsLeft()).toBe(17);
  });

  it('are unpacked before the rollout is opened again, such as for its rollback, and can change then', async () => {
    const before = await readAll();
    await pack();
    const { rollout } = await loadView(store);
    const opening = rolloutChange(rollout, { state: 'rollingBack', endedAt: null });
    expect(await store.saveRollout({ ...opening, brake: 'set' }, null)).toBe('saved');
    expect(await recordsLeft()).toBe(planned);
    expect(await connection.commands.exists(keys().packed)).toBe(0);
    expect(await connection.commands.pttl(keys().records)).toBe(-1);
    expect((await readAll()).all).toEqual(before.all);
    const [of = upgradeOf(0)] = before.succeeded;
    const back = changeTo(of, anyProgress('rolledBack', endedAt), endedAt);
    expect(await saveUpgrade(store, back)).toBe('saved');
    await store.packEnded(['production'], Number.MAX_SAFE_INTEGER, never);
    expect(await recordsLeft()).toBe(planned);
    const { rollout: reopened } = await loadView(store);
    await store.saveRollout(rolloutChange(reopened, { state: 'rolledBack', endedAt }), null);
    await pack();
    expect(await recordsLeft()).toBe(17);
  });

  it('cost nothing more once they are packed, however many rollouts are kept', async () => {
    for (let number = 2; number <= 20; number += 1) {
      const rollout = aRollout({ id: `production-20260302-${number}` });
      await store.freeze(aPlan([], { rollout }));
      await store.saveRollout(rolloutChange(rollout, { state: 'succeeded', endedAt }), null);
    }
    const { store: commands, calls } = countingStore(connection.commands);
    const counted = aRedisStore({ commands, keyPrefix });
    await pack(counted);
    expect(calls.get('zrem')).toBe(20);
    const before = new Map(calls);
    await pack(counted);
    const further = [...calls].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
    expect(further.filter(([, count]) => count > 0)).toEqual([['zrangebyscore', 1]]);
  });

  it('are left out where their pack is unreadable, which is reported once, and stops nothing else', async () => {
    await pack();
    await connection.commands.hset(keys().packed, '1', 'no pack');
    const reports: string[] = [];
    const broken = makeBrokenRecords(({ what }) => reports.push(what));
    const reader = aRedisStore({ commands: connection.commands, keyPrefix, broken });
    const all = await reader.listUpgrades(id, { offset: 0, limit: 10_000 });
    expect(all.length).toBe(planned - 500 + 5);
    await reader.listUpgrades(id, { offset: 0, limit: 10_000 });
    expect(reports).toEqual([`pack 1 of records in ${keys().packed}`]);
  });
});

describe('the leader', () => {
  it('packs an hour after the end, and checks every minute while it leads', async () => {
    const asked: number[] = [];
    const packs = {
      packEnded: async (_policies: readonly string[], before: number) => asked.push(before),
      pageRollouts: async () => undefined,
    };
    let now = endedAt;
    const parts = {
      store: packs as unknown as RolloutStore,
      clock: { now: () => now },
      sleep: async (forMs: number) => {
        now += forMs;
      },
      policies: () => ['production'],
      buildHistory: makeMemoryBuildHistory(),
    };
    expect(await packHistory(parts, () => asked.length < 3, never)).toBe('done');
    expect(asked).toEqual([0, 1, 2].map((minutes) => endedAt + minutes * 60_000 - 3_600_000));
  });
});
