import { expect, it } from 'vitest';
import { walk } from '../../../exploration/random-walk.ts';
import { scenarios } from '../../../exploration/scenarios.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import { withSettableTime } from '../../../support/redis/settable-time.ts';

const redis = useRedis();

// Each is as long as a rollout of two.
const walks = 4;
const movesMax = 120;

it.each(scenarios)(
  'the store in Redis and its model give the same answers in orders of $name',
  async (scenario) => {
    for (let seed = 1; seed <= walks; seed += 1) {
      const { commands, keyPrefix } = redis.place();
      const clock = { at: 0, now: () => clock.at };
      const store = aRedisStore({ commands: withSettableTime(commands, clock), keyPrefix });
      expect(await walk(scenario, { store, clock, seed, movesMax })).toBeUndefined();
    }
  },
);
