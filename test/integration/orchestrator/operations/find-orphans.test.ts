import { expect, it } from 'vitest';
import { findOrphans } from '../../../../src/orchestrator/operations/list-policies.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords } from '../../../../src/redis/schema/unreadable-records.ts';
import { aPolicy, aRollout, aScanEntry, someGroups } from '../../../support/builders.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';

const redis = useRedis();

it('an unreadable rollout without a policy in the config is named, and hides no other rollout', async () => {
  const { commands } = redis.connect();
  const { keyPrefix } = redis.config();
  const told: string[] = [];
  const broken = makeBrokenRecords(({ what }) => told.push(what));
  const store = makeRedisRolloutStore({ commands, keyPrefix, broken });
  const scans = makeMemoryScanBook();
  for (const policy of ['first', 'second']) {
    const rollout = aRollout({ id: `${policy}-20260302-1`, policy: aPolicy({ name: policy }) });
    await store.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
    await scans.note(aScanEntry({ policy }));
  }
  await commands.hset(rolloutKeys(keyPrefix, 'first-20260302-1').rollout, 'json', '{');

  expect(await findOrphans({ store, scans, policies: [] })).toEqual([
    { id: 'first-20260302-1', policy: 'first', state: 'held' },
    { id: 'second-20260302-1', policy: 'second', state: 'running' },
  ]);
  expect(told).toEqual(['rollout first-20260302-1']);
});
