import { nowLua } from './lua-parts.ts';
import { makeScript } from './script.ts';

/**
 * Counts creates without an answer whose intent was stored within a time, by the clock that gave them their scores.
 * KEYS: intents. ARGV: the time in ms.
 */
export const freshIntentsScript = makeScript(`
${nowLua}
return redis.call('ZCOUNT', KEYS[1], redisNow() - tonumber(ARGV[1]), '+inf')
`);
