import { expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { anUpgrade, aRollout, aWave, startedAt } from '../../../support/builders.ts';
import { aHouse, over } from '../../../support/house.ts';
import { quietLead } from '../../../support/quiet-parts.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import { anyProgress, findUpgrade, lanes } from '../../../support/store/store-changes.ts';

const redis = useRedis();
const { id } = aRollout();

it('retries that do not fit their records start nobody, and are removed (P5, P9)', async () => {
  const { commands, keyPrefix } = redis.place();
  const store = aRedisStore({ commands, keyPrefix });
  const { parts } = await aHouse({ rollout: null });
  const held = { stratum: 1, label: 'rack=r1', reason: { kind: 'asked', by: 'ann', words: '' } } as const;
  const place = (collectorId: number) => ({ collectorId, order: collectorId, lane: 1, stratum: 1 });
  await store.freeze({
    rollout: aRollout({
      waves: [aWave({ state: 'open', size: 3 })],
      strata: { held: [{ ...held, by: 'ann', at: startedAt }] },
    }),
    upgrades: [
      anUpgrade(anyProgress('retrying', startedAt), place(1)),
      anUpgrade(over('succeeded'), place(2)),
      anUpgrade(anyProgress('upgrading', startedAt), { ...place(4), lane: 0, stratum: 0 }),
    ],
    groups: { ...lanes(1), lanes: [0, 1].map((stratum) => ({ stratum, timeZone: '', domains: [] })) },
    events: [],
  });
  const { retries } = rolloutKeys(keyPrefix, id);
  // Of a collector whose group was moved to lane 1, of one that has ended, and of one that the plan does not have.
  for (const stray of ['1:0', '2:0', '3:0']) await commands.zadd(retries, startedAt, stray);

  const counted = countingStore(store);
  const leader = { ...parts, ...quietLead, store: counted.store };
  for (let pass = 0; pass < 3; pass += 1) await reconcile(leader, id, 1, Number.POSITIVE_INFINITY);

  expect(await commands.zrange(retries, '0', '-1')).toEqual(['1:1']);
  expect((await findUpgrade(store, 1, id))?.progress.state).toBe('retrying');
  expect(await store.readEvents(id, { limit: 100 })).not.toContainEqual(
    expect.objectContaining({ event: 'upgrade.queued' }),
  );
  expect(counted.total()).toBeLessThan(20);
});
