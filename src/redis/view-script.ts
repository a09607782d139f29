import { makeScript } from './script.ts';
import { placesPerWave } from './upgrade-index.ts';

/**
 * Everything `decide` sees, at one instant.
 * KEYS: rollout, counters, pending, due, retries. ARGV: now, overdueBefore, pageSize.
 */
export const viewScript = makeScript(`
local rollout = redis.call('HMGET', KEYS[1], 'json', 'rev', 'brake')
if not rollout[1] then return false end
local now, overdueBefore, pageSize = ARGV[1], ARGV[2], ARGV[3]
local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
local wave, candidates = '', {}
if first[2] then
  local number = math.floor(tonumber(first[2]) / ${placesPerWave})
  wave = string.format('%.0f', number)
  local beyond = string.format('(%.0f', (number + 1) * ${placesPerWave})
  candidates = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', beyond, 'LIMIT', 0, pageSize)
end
local nextRetry = redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
return {
  rollout[1], rollout[2], rollout[3] or '0',
  redis.call('HGETALL', KEYS[2]),
  redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', now, 'LIMIT', 0, pageSize),
  nextRetry[2] or '',
  wave, candidates,
  redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. overdueBefore, 'LIMIT', 0, pageSize)
}
`);
