import { makeScript } from '../connection/commands.ts';
import { appendEventLua, expireTogetherLua, fenceLua, recordLua } from './lua-parts.ts';

/**
 * All of a rollout's records and its counters at one instant. KEYS: records, counters. ARGV: collectors of whose records'
 * bytes the SHA-1 is asked for; it is empty for one that is not there.
 */
export const snapshotScript = makeScript(`
local sha1s = {}
for at = 1, #ARGV do
  local current = redis.call('HGET', KEYS[1], ARGV[at])
  sha1s[at] = current and redis.sha1hex(current) or ''
end
return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), sha1s }
`);

/**
 * Puts records in the place of others, all of them or none. Sent twice, the second one finds other bytes, and does nothing.
 *
 * KEYS: as the transition script. ARGV[1]: `{ write, fence, counts, changed }`; then for each its index with \`id\` and the
 * \`sha1\` of what it replaces, its record, and its event. Answers 1 when it was done.
 */
export const mendScript = makeScript(`
${appendEventLua}
${fenceLua}
${recordLua}
${expireTogetherLua}
local call = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 or isFenced(KEYS[10], call.fence) then return 0 end
for at = 2, #ARGV, 3 do
  local index = cjson.decode(ARGV[at])
  local current = redis.call('HGET', KEYS[2], index.id)
  if not current or redis.sha1hex(current) ~= index.sha1 then return 0 end
end
local sets = { pending = KEYS[4], due = KEYS[5], retries = KEYS[6], intents = KEYS[7], missed = KEYS[8] }
for at = 2, #ARGV, 3 do
  local index = cjson.decode(ARGV[at])
  redis.call('HSET', KEYS[2], index.id, call.write .. ' ' .. ARGV[at + 1])
  placeAll(index, index.id, sets, false)
  appendEvent(KEYS[9], ARGV[at + 2])
end
for at = 1, #call.counts, 2 do addTo(KEYS[3], call.counts[at], call.counts[at + 1]) end
for at = 1, #call.changed, 2 do
  local known = tonumber(redis.call('HGET', KEYS[3], call.changed[at]) or '0')
  if tonumber(call.changed[at + 1]) > known then redis.call('HSET', KEYS[3], call.changed[at], call.changed[at + 1]) end
end
expireTogether(KEYS[2], 3, 9)
return 1
`);
