import { describe, expect, it } from 'vitest';
import { type BuildHistory, buildRecordsMax } from '../../../../src/orchestrator/ports/build-history.ts';
import { makeRedisBuildHistory } from '../../../../src/redis/coordination/build-history.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { aBuildRecord, startedAt } from '../../../support/builders.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeMemoryBuildHistory } from '../../../support/store/memory-build-history.ts';

const redis = useRedis();
let connection: ReturnType<typeof redis.connect> | undefined;

function inRedis({ keyPrefix = redis.config().keyPrefix, isSentTwice = false } = {}) {
  connection ??= redis.connect();
  const { commands: plain } = connection;
  const reported: string[] = [];
  const history = makeRedisBuildHistory({
    commands: isSentTwice ? echoingCommands(plain, async () => undefined) : plain,
    keyPrefix,
    broken: makeBrokenRecords(({ what }) => reported.push(what)),
  });
  return { history, commands: plain, keyPrefix, reported };
}

const histories: ReadonlyArray<readonly [name: string, make: () => BuildHistory]> = [
  ['in Redis', () => inRedis().history],
  ['in Redis, each script sent twice', () => inRedis({ isSentTwice: true }).history],
  ['in memory', makeMemoryBuildHistory],
];

describe.each(histories)('the history of builds %s', (_name, make) => {
  it('returns the records of the rollouts that ended last, newest first', async () => {
    const history = make();
    expect(await history.recorded()).toEqual(new Map());
    expect(await history.read(9)).toEqual([]);
    const others = { tried: 2, failed: { permanent: 1, timedOut: 1 }, returned: 0, medianMs: null };
    const groups = [{ attributes: [{ key: 'fields.rack', value: 'r7' }], tried: 3, failed: 2 }];
    const first = aBuildRecord({ rolloutId: 'a', endedAt: startedAt, groups });
    const second = aBuildRecord({ rolloutId: 'b', endedAt: startedAt + 1, others });
    for (const record of [second, first]) await history.record(record);
    expect(await history.read(9)).toEqual([second, first]);
    expect(await history.read(1)).toEqual([second]);
    expect(await history.read(0)).toEqual([]);
    expect(await history.recorded()).toEqual(
      new Map([
        ['a', startedAt],
        ['b', startedAt + 1],
      ]),
    );
  });

  it('replaces the record of a rollout that was opened again', async () => {
    const history = make();
    await history.record(aBuildRecord({ rolloutId: 'a', endedAt: startedAt }));
    await history.read(9);
    const again = aBuildRecord({ rolloutId: 'a', endedAt: startedAt + 5, strata: [] });
    await history.record(again);
    expect(await history.read(9)).toEqual([again]);
    expect(await history.recorded()).toEqual(new Map([['a', startedAt + 5]]));
  });

  it('drops the oldest beyond its limit', async () => {
    const history = make();
    const records = Array.from({ length: buildRecordsMax + 2 }, (_, index) =>
      aBuildRecord({ rolloutId: `r${index}`, endedAt: startedAt + index, strata: [] }),
    );
    await Promise.all(records.map((record) => history.record(record)));
    const recorded = await history.recorded();
    expect(recorded.size).toBe(buildRecordsMax);
    expect([recorded.has('r1'), recorded.has('r2')]).toEqual([false, true]);
    const read = await history.read(2 * buildRecordsMax);
    expect([read.length, read.at(-1)?.rolloutId]).toEqual([buildRecordsMax, 'r2']);
  });
});

describe('the history of builds in Redis', () => {
  it('never expires, and is shared by daemons', async () => {
    const { history, commands, keyPrefix } = inRedis();
    const record = aBuildRecord();
    await history.record(record);
    const keys = await commands.keys(`${keyPrefix}:{fleet}:*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await commands.pttl(key)).toBe(-1);
    expect(await inRedis({ keyPrefix }).history.read(9)).toEqual([record]);
  });

  it('leaves out a broken record, and reports it once', async () => {
    const { history, commands, keyPrefix, reported } = inRedis();
    const record = aBuildRecord({ rolloutId: 'a' });
    for (const rolloutId of ['a', 'b']) await history.record({ ...record, rolloutId });
    await commands.hset(`${keyPrefix}:{fleet}:buildRecords`, 'b', '{"rolloutId":"b"}');
    for (const _ of [1, 2]) expect(await history.read(9)).toEqual([record]);
    expect(reported).toEqual(['what a build did in rollout b']);
  });
});
