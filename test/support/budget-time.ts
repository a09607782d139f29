import { apiBudgetKeys } from '../../src/redis/api-budget/ledger.ts';
import type { RedisCommands } from '../../src/redis/connection/connection.ts';

/** The instants in the state of a budget, in microseconds. The instant of each permit is in milliseconds. */
const stateInstants = ['nextUs', 'pausedUntilUs', 'pausedAtUs', 'downAtUs', 'limitedAtUs', 'strayUntilUs'];

const lua = `
for at = 2, #ARGV do
  if redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then redis.call('HINCRBY', KEYS[1], ARGV[at], -1000 * ARGV[1]) end
end
for at, late in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')) do
  local instant, slot = string.match(late, '^(%d+):(%d+)$')
  if instant then
    local score = redis.call('ZSCORE', KEYS[3], late)
    redis.call('ZREM', KEYS[3], late)
    redis.call('ZADD', KEYS[3], score, string.format('%.0f:%s', instant - 1000 * ARGV[1], slot))
  end
end
for _, permit in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do redis.call('ZINCRBY', KEYS[2], -ARGV[1], permit) end
`;

/**
 * Advances the time of a budget. The budget uses the clock of Redis, which cannot be set, so all its instants are moved
 * back instead.
 */
export async function passBudgetTime(
  commands: RedisCommands,
  budget: { readonly keyPrefix: string; readonly accessId: string },
  forMs: number,
): Promise<void> {
  const { state, permits, late } = apiBudgetKeys(budget.keyPrefix, budget.accessId);
  await commands.eval(lua, 3, state, permits, late, String(forMs), ...stateInstants);
}
