import { beforeEach, describe, expect, it } from 'vitest';
import type { RolloutStore } from '../../../../src/orchestrator/ports/rollout-store.ts';
import type { BackupPart } from '../../../../src/redis/backup/backup-lines.ts';
import { findKeptKeys, removeKeys } from '../../../../src/redis/backup/kept-keys.ts';
import { readKeys } from '../../../../src/redis/backup/read-keys.ts';
import { restoreBackup } from '../../../../src/redis/backup/restore-backup.ts';
import { takeBackup } from '../../../../src/redis/backup/take-backup.ts';
import type { RedisConnection } from '../../../../src/redis/connection/connection.ts';
import { makeRedisFleetRegister } from '../../../../src/redis/coordination/fleet-register.ts';
import { makeRedisLeaderLease } from '../../../../src/redis/coordination/leader-lease.ts';
import { makeRedisStoreInstance } from '../../../../src/redis/coordination/store-instance.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import { readRestoring } from '../../../../src/redis/schema/restoring.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { holdsSlot } from '../../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aPolicy, aRollout, someGroups, startedAt } from '../../../support/builders.ts';
import { useRedis } from '../../../support/redis.ts';
import { admitted, anEvent, ended, intended, pendingOnes } from '../../../support/store-changes.ts';

const redis = useRedis();
// More than one part of each key holds.
const collectors = 1_234;

let connection: RedisConnection;
let keyPrefix: string;
let store: RolloutStore;

beforeEach(() => {
  connection ??= redis.connect();
  keyPrefix = redis.config().keyPrefix;
  store = makeRedisRolloutStore({ commands: connection.commands, keyPrefix });
});

const idOf = (number: number, policy = 'production') => `${policy}-20260302-${number}`;

async function freeze(number: number, policy = 'production', size = 3): Promise<void> {
  const id = idOf(number, policy);
  const rollout = aRollout({ id, createdAt: startedAt + number, policy: aPolicy({ name: policy }) });
  const upgrades = pendingOnes(size, { rolloutId: id });
  const events = [anEvent('rollout.running')];
  expect(await store.freeze({ rollout, upgrades, groups: someGroups(), events })).toBe('frozen');
}

/** Ends a rollout, or opens it again. */
async function save(number: number, isOver: boolean, fence: number | null = null): Promise<void> {
  const rollout = await store.loadRollout(idOf(number));
  if (rollout === undefined) throw new Error(`there is no rollout ${number}`);
  const { rev } = rollout;
  const next = { ...rollout, rev: rev + 1, endedAt: isOver ? startedAt : null };
  const change = { expectedRev: rev, events: [anEvent('rollout.succeeded')], brake: 'keep' } as const;
  expect(await store.saveRollout({ rollout: next, ...change }, fence)).toBe('saved');
}

/** Everything, except how fresh readings are, with its life to the minute, and without the order that hashes have by chance. */
async function snapshot() {
  const contents = await Promise.all(
    (await findKeptKeys(connection, keyPrefix)).map((key) => readKeys(connection, [key])),
  );
  return contents.flat().map(({ type, values, leftMs, ...rest }) => ({
    ...rest,
    type,
    leftMin: leftMs === null ? null : Math.round(leftMs / 60_000),
    values: type === 'hash' ? Object.fromEntries(pairs(values.map(withoutFreshness))) : values,
  }));
}

function withoutFreshness(text: string): string {
  return text.replaceAll(/"(eligibleAt|freshAt)":\d+/g, '"$1":"…"');
}

function pairs(values: readonly string[]): ReadonlyArray<readonly [string, string]> {
  return values.flatMap((name, at) => (at % 2 === 0 ? [[name, values[at + 1] ?? ''] as const] : []));
}

async function all(parts: AsyncIterable<BackupPart>): Promise<readonly BackupPart[]> {
  const found: BackupPart[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

const take = () => all(takeBackup({ connection, keyPrefix }));

function restore(parts: readonly BackupPart[], changes: { replaces?: boolean; now?: number } = {}) {
  const { replaces = false, now = Date.now() } = changes;
  const stream = async function* () {
    yield* parts;
  };
  return restoreBackup({ connection, keyPrefix }, { readParts: stream, replaces, now });
}

async function wipe(): Promise<void> {
  const keys = await connection.commands.keys(`${keyPrefix}:*`);
  await removeKeys(connection, keys);
}

describe('a backup', () => {
  it('brings back every key as it was, with its life', async () => {
    await freeze(1);
    await save(1, true);
    await freeze(2, 'production', collectors);
    const [first, second] = pendingOnes(2, { rolloutId: idOf(2) });
    if (first === undefined || second === undefined) throw new Error('there are two');
    await store.saveUpgrade(ended(first, 'failed', 0.5), null);
    await store.saveUpgrade(admitted(second), null);
    for (let event = 0; event < 600; event += 1) await save(2, false);
    await freeze(1, 'staging');
    const register = makeRedisFleetRegister({ commands: connection.commands, keyPrefix });
    await register.holdBuild({ build: '19.1-1', by: 'ann', reason: 'it leaks', at: startedAt });
    await register.audit({ event: 'build.held', subject: '19.1-1', by: 'ann', reason: '', at: startedAt });
    await register.firstSeen(['19.1-1'], startedAt);
    const before = await snapshot();
    expect(before.length).toBeGreaterThan(20);
    const parts = await take();
    await wipe();
    expect(await restore(parts)).toEqual({ kind: 'restored', keys: before.length, rollouts: 3 });
    expect(await snapshot()).toEqual(before);
    expect(await store.activeRolloutIds(['production', 'staging'])).toEqual([idOf(2), idOf(1, 'staging')]);
    expect((await register.readAudit(5)).length).toBe(1);
    const birth = makeRedisStoreInstance({ commands: connection.commands, keyPrefix });
    expect((await birth.identify([])).isRestored).toBe(true);
  });

  it('leaves out what passes by itself: the lease, marks, the API budget, and jobs', async () => {
    await freeze(1);
    const { commands } = connection;
    const passing = [
      `{leader}:lease`,
      '{leader}:epoch',
      '{leader}:tried',
      '{leader}:restoring',
      '{leader}:born',
      '{staging}:born',
      '{budget:0123}:state',
      '{fleet}:mark:a',
      '{queue:bull}:steps:1',
    ];
    for (const key of passing) await commands.set(`${keyPrefix}:${key}`, '1');
    await commands.set(`${keyPrefix}:{production}:${idOf(2)}:staging:a:records`, '1');
    await commands.set(`${keyPrefix}x:{production}:active`, idOf(9));
    const keys = new Set((await take()).map(({ key }) => key));
    expect([...keys].filter((key) => !key.startsWith(`${keyPrefix}:{production}`))).toEqual([]);
    expect([...keys].filter((key) => key.includes('staging'))).toEqual([]);
    await commands.del(`${keyPrefix}x:{production}:active`);
  });

  it('agrees with itself while daemons work: what is counted is what the records say', async () => {
    await freeze(1, 'production', 300);
    let isTaken = false;
    let changes = 0;
    const work = async () => {
      for (const pending of pendingOnes(300, { rolloutId: idOf(1) })) {
        if (isTaken) return;
        for (const next of [admitted, intended]) {
          const upgrade = await store.loadUpgrade(idOf(1), pending.collectorId);
          if (upgrade !== undefined) await store.saveUpgrade(next(upgrade), null);
          changes += 1;
        }
      }
    };
    const working = work();
    while (changes < 20) await new Promise((resolve) => setImmediate(resolve));
    const parts = await take();
    isTaken = true;
    await working;
    await wipe();
    await restore(parts);
    const upgrades = await store.listUpgrades(idOf(1), { offset: 0, limit: 300 });
    const view = await store.loadView(idOf(1), { now: 0, overdueBefore: 0, pageSize: 1 });
    expect(upgrades.some(({ state }) => state !== 'pending')).toBe(true);
    expect(view?.slotsTaken).toBe(upgrades.filter(({ state }) => holdsSlot(state)).length);
    expect(await store.countFreshIntents(idOf(1), 3_600_000)).toBe(
      upgrades.filter(({ state }) => state === 'starting').length,
    );
  });

  it('has the rollouts that ended, began and were opened again while it was taken, each once', async () => {
    for (const number of [1, 2]) {
      await freeze(number);
      await save(number, true);
    }
    await freeze(3);
    const taking = takeBackup({ connection, keyPrefix });
    const begun = await taking.next();
    // The first one is being written.
    expect(begun.done === false && begun.value.key.includes(idOf(1))).toBe(true);
    await save(3, true);
    await save(2, false);
    const parts = [...(begun.done === true ? [] : [begun.value]), ...(await all(taking))];
    const heads = parts.filter(({ key }) => key.endsWith(':rollout')).map(({ key }) => key);
    expect(heads.length).toBe(3);
    expect(new Set(heads).size).toBe(3);
    const before = await snapshot();
    await wipe();
    await restore(parts);
    expect(await store.activeRolloutIds(['production'])).toEqual([idOf(2)]);
    expect(await snapshot()).toEqual(before);
  });

  it('says so when a rollout was passed over, ended, and opened again', async () => {
    for (const number of [1, 2]) {
      await freeze(number);
      await save(number, true);
    }
    await freeze(3);
    const taking = takeBackup({ connection, keyPrefix });
    let part = await taking.next();
    await save(3, true);
    await freeze(4);
    // Up to where the active one is written.
    while (part.done === false && !part.value.key.includes(idOf(4))) part = await taking.next();
    await save(4, true);
    await save(3, false);
    await expect(all(taking)).rejects.toThrow(`rollout ${idOf(3)} was opened again while it was read`);
  });
});

describe('restoring', () => {
  it('refuses where there is state, and changes nothing, unless it may be replaced', async () => {
    await freeze(1);
    const parts = await take();
    await save(1, true);
    await freeze(2);
    const before = await snapshot();
    expect(await restore(parts)).toEqual({ kind: 'occupied', keys: before.length, cutOffAt: null });
    expect(await snapshot()).toEqual(before);
    expect(await restore(parts, { replaces: true })).toMatchObject({ kind: 'restored', rollouts: 1 });
    expect((await store.listRollouts(['production'])).map(({ id }) => id)).toEqual([idOf(1)]);
    expect(await store.loadRollout(idOf(2))).toBeUndefined();
    expect((await store.loadRollout(idOf(1)))?.endedAt).toBeNull();
  });

  it('refuses while a daemon leads, and lets none lead until it is done', async () => {
    await freeze(1);
    const parts = await take();
    const lease = makeRedisLeaderLease({ commands: connection.commands, keyPrefix });
    await lease.hold();
    expect(await restore(parts, { replaces: true })).toEqual({ kind: 'led' });
    await lease.release();
    const meanwhile = makeRedisLeaderLease({ commands: connection.commands, keyPrefix, leaseMs: 300 });
    const watched = async function* () {
      expect(await meanwhile.hold()).toBeUndefined();
      yield* parts;
    };
    const backup = { readParts: watched, replaces: true, now: Date.now() };
    expect(await restoreBackup({ connection, keyPrefix }, backup)).toMatchObject({ kind: 'restored' });
    await meanwhile.release();
    const next = makeRedisLeaderLease({ commands: connection.commands, keyPrefix });
    expect(await next.hold()).toBeDefined();
    await next.release();
  });

  /** Restores while something else happens, each time that a part is about to be written. */
  function restoreWhile(parts: readonly BackupPart[], happens: (part: BackupPart) => Promise<unknown>) {
    let readings = 0;
    const readParts = async function* () {
      readings += 1;
      const isWritten = readings === 2;
      for (const part of parts) {
        if (isWritten) await happens(part);
        yield part;
      }
    };
    return restoreBackup({ connection, keyPrefix }, { readParts, replaces: true, now: Date.now() });
  }

  it('lets no step change what is being restored, so that what is counted is what the records say (P2, P9)', async () => {
    await freeze(1);
    const [first] = pendingOnes(1, { rolloutId: idOf(1) });
    if (first === undefined) throw new Error('there is one');
    await store.saveUpgrade(admitted(first), null);
    const before = await snapshot();
    const parts = await take();
    const answers = new Set<string>();
    await restoreWhile(parts, async () => {
      // A daemon that starts takes a job that was left in BullMQ, which a restore does not touch.
      const queued = await store.loadUpgrade(idOf(1), 1);
      if (queued !== undefined) answers.add(await store.saveUpgrade(ended(queued, 'withdrawn', 0), null));
    });
    expect(answers).toEqual(new Set(['stale']));
    expect(await snapshot()).toEqual(before);
    const view = await store.loadView(idOf(1), { now: 0, overdueBefore: 0, pageSize: 1 });
    expect(view?.slotsTaken).toBe(1);
  });

  it('lets nobody begin a rollout meanwhile, also where the backup comes to it last (P9)', async () => {
    await freeze(1);
    await save(1, true);
    await freeze(2);
    await freeze(1, 'staging');
    const before = await snapshot();
    const parts = await take();
    const answers = new Set<string>();
    await wipe();
    await restoreWhile(parts, async () => {
      for (const [policy, kind] of [
        ['production', 'upgrade'],
        ['production', 'rollback'],
        ['staging', 'upgrade'],
      ] as const) {
        const rollout = aRollout({ id: idOf(7, policy), kind, policy: aPolicy({ name: policy }) });
        const plan = { rollout, upgrades: pendingOnes(1, { rolloutId: rollout.id }), groups: someGroups() };
        answers.add(await store.freeze({ ...plan, events: [] }));
      }
      expect(await store.activeRolloutIds(['production', 'staging'])).toEqual([]);
    });
    expect(answers).toEqual(new Set(['busy']));
    expect(await snapshot()).toEqual(before);
    expect(await store.activeRolloutIds(['production', 'staging'])).toEqual([idOf(2), idOf(1, 'staging')]);
  });

  it('that was cut off is told, keeps all policies busy, and is begun again (P9)', async () => {
    await freeze(1);
    const before = await snapshot();
    const parts = await take();
    // Not in the backup.
    await freeze(1, 'staging');
    let written = 0;
    const killed = restoreWhile(parts, async () => {
      written += 1;
      if (written > 5) throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    const { commands } = connection;
    const begunAt = await readRestoring({ commands, keyPrefix });
    expect(begunAt).toMatch(/^\d{4}-.*Z$/);
    expect(await restore(parts)).toMatchObject({ kind: 'occupied', cutOffAt: begunAt });
    for (const policy of ['production', 'staging']) {
      const rollout = aRollout({ id: idOf(7, policy), policy: aPolicy({ name: policy }) });
      const plan = { rollout, upgrades: pendingOnes(1, { rolloutId: rollout.id }), groups: someGroups() };
      expect(await store.freeze({ ...plan, events: [] })).toBe('busy');
    }
    expect(await restore(parts, { replaces: true })).toMatchObject({ kind: 'restored', rollouts: 1 });
    expect(await snapshot()).toEqual(before);
    expect(await readRestoring({ commands, keyPrefix })).toBeNull();
    await freeze(2, 'staging');
  });

  it('ends when a daemon takes the lead, and nothing starts until it is begun again (P9)', async () => {
    await freeze(1);
    const parts = await take();
    const [part] = parts;
    if (part === undefined) throw new Error('there are parts');
    let readings = 0;
    let turns = 0;
    const endless = async function* () {
      readings += 1;
      if (readings === 1) yield part;
      // Up to the beat with which it sees that.
      while (readings === 2 && turns < 1_000) {
        turns += 1;
        await aDaemonLeads();
        yield part;
      }
    };
    const backup = { readParts: endless, replaces: true, now: Date.now() };
    expect(await restoreBackup({ connection, keyPrefix }, backup)).toEqual({ kind: 'cutOff' });
    expect(turns).toBeLessThan(1_000);
    expect(await readRestoring({ commands: connection.commands, keyPrefix })).not.toBeNull();
    expect(await connection.commands.get(`${keyPrefix}:{leader}:lease`)).toBe('a daemon');
    expect(await store.activeRolloutIds(['production'])).toEqual([]);
    await connection.commands.del(`${keyPrefix}:{leader}:lease`);
    expect(await restore(parts, { replaces: true })).toMatchObject({ kind: 'restored', rollouts: 1 });
  });

  async function aDaemonLeads(): Promise<void> {
    await connection.commands.set(`${keyPrefix}:{leader}:lease`, 'a daemon');
    await new Promise((resolve) => setTimeout(resolve, 15));
  }

  it('gives the next leader a fence that no record is ahead of', async () => {
    const aheadOfTheClock = 9_000_000_057;
    await freeze(1);
    await save(1, false, aheadOfTheClock);
    const parts = await take();
    await wipe();
    await restore(parts);
    const lease = makeRedisLeaderLease({ commands: connection.commands, keyPrefix });
    const fence = await lease.hold();
    await lease.release();
    expect(fence).toBe(aheadOfTheClock + 1);
    await save(1, true, fence ?? 0);
  });

  it('does not bring back what has expired meanwhile', async () => {
    await freeze(1);
    await save(1, true);
    await freeze(2);
    const parts = await take();
    await wipe();
    const later = Date.now() + 91 * 86_400_000;
    expect(await restore(parts, { now: later })).toMatchObject({ kind: 'restored', rollouts: 1 });
    expect((await store.listRollouts(['production'])).map(({ id }) => id)).toEqual([idOf(2)]);
  });

  it('brings back a name that is hard on a format', async () => {
    const collectorName = 'näme\u2028\n"\u0007 {}: \ud83d\ude00';
    const upgrade = anUpgrade({ state: 'pending' }, { collectorName });
    await store.freeze({ rollout: aRollout(), upgrades: [upgrade], groups: someGroups(), events: [] });
    const parts = await take();
    await wipe();
    await restore(JSON.parse(JSON.stringify(parts)) as readonly BackupPart[]);
    const restored = await store.loadUpgrade(upgrade.rolloutId, upgrade.collectorId);
    expect(restored).toEqual({ ...upgrade, eligibleAt: 0 });
  });

  it('takes no reading of before for fresh, so that each collector is looked at before a create (P1)', async () => {
    await freeze(1, 'production', 2);
    const [first] = pendingOnes(1, { rolloutId: idOf(1) });
    if (first === undefined) throw new Error('there is one');
    expect(await store.saveUpgrade(admitted(first), null)).toBe('saved');
    const parts = await take();
    await wipe();
    await restore(parts);
    expect(await store.listUpgrades(idOf(1), { offset: 0, limit: 5 })).toMatchObject([
      { state: 'queued', eligibleAt: 0, freshAt: 0, dueAt: startedAt },
      { state: 'pending', eligibleAt: 0 },
    ]);
    const queued = await store.loadUpgrade(idOf(1), 1);
    if (queued === undefined) throw new Error('it is restored');
    // The mark of its last write is where it was: a change is known from its repetition.
    expect(await store.saveIntent(intended(queued), 1)).toBe('saved');
  });

  it('brings back a record that cannot be read as it was', async () => {
    await freeze(1);
    const { records } = rolloutKeys(keyPrefix, idOf(1));
    await connection.commands.hset(records, '2', '{"collectorId":2,');
    const parts = await take();
    await wipe();
    expect(await restore(parts)).toMatchObject({ kind: 'restored' });
    expect(await connection.commands.hget(records, '2')).toBe('{"collectorId":2,');
  });
});
