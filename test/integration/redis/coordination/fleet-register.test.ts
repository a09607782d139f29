import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/contract/admin/holds.ts';
import type { FleetRegister } from '../../../../src/orchestrator/ports/fleet-register.ts';
import { makeRedisStoreInstance } from '../../../../src/redis/coordination/store-instance.ts';
import { makeMemoryFleetRegister } from '../../../../src/rehearsal/store/memory-fleet-register.ts';
import { startedAt } from '../../../support/builders.ts';
import { echoingCommands, onScripts } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisRegister } from '../../../support/redis/redis-adapters.ts';

const redis = useRedis();
const build = '19.536-4';
const word = { by: 'ann', reason: 'it "leaks"', at: startedAt };
let connection: ReturnType<typeof redis.connect> | undefined;

const registers: ReadonlyArray<readonly [name: string, make: () => FleetRegister]> = [
  ['in Redis', () => makeRedisRegister().register],
  ['in Redis, each script sent twice', () => makeRedisRegister(async () => undefined).register],
  ['in memory', makeMemoryFleetRegister],
];

describe.each(registers)('the fleet register %s', (_name, make) => {
  let register: FleetRegister;
  beforeEach(() => {
    register = make();
  });

  it('holds builds, collectors and groups until they are released, and keeps the first request', async () => {
    expect(await register.holds()).toEqual({ builds: [], collectors: [], groups: [] });
    const group = { label: 'osName=AIX', attributes: [{ key: 'osName', value: 'AIX' }], ...word };
    expect(await register.holdGroup(group)).toBe('held');
    expect(await register.holdGroup({ ...group, by: 'bob' })).toBe('unchanged');
    expect(await register.holdBuild({ build, ...word })).toBe('held');
    expect(await register.holdBuild({ build, ...word, by: 'bob' })).toBe('unchanged');
    expect(await register.holdBuild({ build, ...word })).toBe('unchanged');
    expect(await register.holdBuild({ build: '19.1-1', ...word, at: startedAt - 1 })).toBe('held');
    expect(await register.holdCollector({ collectorId: 7, ...word })).toBe('held');
    expect(await register.holdCollector({ collectorId: 7, ...word, by: 'bob' })).toBe('unchanged');
    expect(await register.holds()).toEqual({
      builds: [
        { build: '19.1-1', ...word, at: startedAt - 1 },
        { build, ...word },
      ],
      collectors: [{ collectorId: 7, ...word }],
      groups: [group],
    });
    expect(await register.releaseGroup('osName=AIX')).toBe('released');
    expect(await register.releaseGroup('osName=AIX')).toBe('unchanged');
    expect((await register.holds()).groups).toEqual([]);
    expect(await register.releaseBuild(build)).toBe('released');
    expect(await register.releaseBuild(build)).toBe('unchanged');
    expect(await register.releaseCollector(7)).toBe('released');
    expect(await register.releaseCollector(8)).toBe('unchanged');
    expect((await register.holds()).collectors).toEqual([]);
    expect(await register.holdBuild({ build, ...word, by: 'bob' })).toBe('held');
    expect((await register.holds()).builds.map(({ by }) => by)).toEqual(['ann', 'bob']);
  });

  it('reads the holds of these collectors alone', async () => {
    expect(await register.holdsOf([7])).toEqual([]);
    for (let collectorId = 1; collectorId <= 20; collectorId += 1)
      await register.holdCollector({ collectorId, ...word, at: startedAt - collectorId });
    expect(await register.holdsOf([7, 21, 8])).toEqual([
      { collectorId: 8, ...word, at: startedAt - 8 },
      { collectorId: 7, ...word, at: startedAt - 7 },
    ]);
    expect(await register.holdsOf([])).toEqual([]);
  });

  it('knows when a build was first seen', async () => {
    expect(await register.firstSeen([], startedAt)).toEqual(new Map());
    expect(await register.lastOffered()).toBeUndefined();
    expect(await register.firstSeen(['1-1', '2-1'], startedAt)).toEqual(
      new Map([
        ['1-1', startedAt],
        ['2-1', startedAt],
      ]),
    );
    expect(await register.firstSeen(['2-1', '3-1'], startedAt + 5)).toEqual(
      new Map([
        ['2-1', startedAt],
        ['3-1', startedAt + 5],
      ]),
    );
    expect(await register.lastOffered()).toEqual({ builds: ['2-1', '3-1'], at: startedAt + 5 });
  });

  it('keeps the audit, newest first', async () => {
    expect(await register.readAudit(5)).toEqual([]);
    const entries: AuditEntry[] = [1, 2, 3].map((subject) => ({
      event: 'collector.held',
      subject: String(subject),
      ...word,
    }));
    for (const entry of entries) await register.audit(entry);
    expect(await register.readAudit(5)).toEqual(entries.toReversed());
    expect(await register.readAudit(2)).toEqual(entries.toReversed().slice(0, 2));
    expect(await register.readAudit(0)).toEqual([]);
    const [entry] = entries;
    if (entry === undefined) throw new Error('there are three');
    // Said by several daemons, and anew after another loss.
    for (const once of ['first', 'first', 'second', 'first']) await register.audit(entry, once);
    expect((await register.readAudit(9)).length).toBe(5);
  });
});

describe('the fleet register in Redis', () => {
  it('reads the holds again only after a change, by whichever daemon, or after a data loss', async () => {
    const { register: other, keyPrefix, commands } = makeRedisRegister();
    const read: string[] = [];
    const watching = onScripts(commands, async (send) => {
      const reply = await send();
      read.push(JSON.stringify(reply));
      return reply;
    });
    const register = aRedisRegister({ commands: watching, keyPrefix });
    const holdsSent = async () => {
      read.length = 0;
      const { builds, collectors } = await register.holds();
      return [builds.length + collectors.length, read.join().includes(word.by)];
    };
    await other.holdBuild({ build, ...word });
    expect(await holdsSent()).toEqual([1, true]);
    expect(await holdsSent()).toEqual([1, false]);
    await other.holdCollector({ collectorId: 7, ...word });
    expect(await holdsSent()).toEqual([2, true]);
    // Held already, so nothing changed.
    await other.holdCollector({ collectorId: 7, ...word });
    expect(await holdsSent()).toEqual([2, false]);
    await register.releaseBuild(build);
    expect(await holdsSent()).toEqual([1, true]);
    await commands.del(...(await commands.keys(`${keyPrefix}:{fleet}:holds*`)));
    expect(await holdsSent()).toEqual([0, false]);
    const holds = { builds: [], collectors: [{ collectorId: 7, ...word }], groups: [] };
    await makeRedisStoreInstance({ commands, keyPrefix }).putBack({
      instance: 'second',
      holds,
      takenIds: [],
    });
    expect(await holdsSent()).toEqual([1, true]);
  });

  it('does not undo a change between a command and its retry', async () => {
    const { keyPrefix } = redis.config();
    const other = makeRedisRegister(undefined, keyPrefix).register;
    const holding = makeRedisRegister(() => other.releaseBuild(build), keyPrefix).register;
    expect(await holding.holdBuild({ build, ...word })).toBe('held');
    expect((await other.holds()).builds).toEqual([]);
    await other.holdBuild({ build, ...word });
    const releasing = makeRedisRegister(
      () => other.holdBuild({ build, ...word, by: 'bob' }),
      keyPrefix,
    ).register;
    expect(await releasing.releaseBuild(build)).toBe('released');
    expect((await other.holds()).builds.map(({ by }) => by)).toEqual(['bob']);
  });

  it('expires the keys that detect repeated commands', async () => {
    const { register, keyPrefix, commands } = makeRedisRegister();
    await register.holdBuild({ build, ...word });
    await register.audit({ event: 'build.held', subject: build, ...word });
    const marks = await commands.keys(`${keyPrefix}:{fleet}:mark:*`);
    expect(marks).toHaveLength(2);
    for (const mark of marks) expect(await commands.pttl(mark)).toBeGreaterThan(0);
  });

  it('corrects the time at which a build was first seen when a clock was ahead or behind', async () => {
    const { register } = makeRedisRegister();
    const now = Date.now();
    const aDay = 86_400_000;
    await register.firstSeen([build], now + 365 * aDay);
    expect((await register.firstSeen([build], now)).get(build)).toBe(now);
    expect((await register.firstSeen([build], now + aDay)).get(build)).toBe(now);
    expect((await register.firstSeen([build], now - 365 * aDay)).get(build)).toBe(now);
  });

  it('reports a broken entry clearly, and leaves it out of the audit', async () => {
    const { register, keyPrefix, commands } = makeRedisRegister();
    await commands.hset(`${keyPrefix}:{fleet}:builds`, '2-1', 'yesterday');
    await expect(register.firstSeen(['2-1'], 1)).rejects.toThrow(/when build 2-1 was seen first/);
    await commands.xadd(`${keyPrefix}:{fleet}:audit`, '*', 'entry', '{"event":"other"}');
    expect(await register.readAudit(1)).toEqual([]);
  });
});

/** With `between`, each script is sent twice, and that is done in between. */
function makeRedisRegister(between?: () => Promise<unknown>, keyPrefix = redis.config().keyPrefix) {
  connection ??= redis.connect();
  const plain = connection.commands;
  const commands = between === undefined ? plain : echoingCommands(plain, between);
  return { register: aRedisRegister({ commands, keyPrefix }), keyPrefix, commands: plain };
}
