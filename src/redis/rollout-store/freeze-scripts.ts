import { makeScript } from '../connection/commands.ts';
import { appendEventLua, nowLua, settlePlanLua } from './lua-parts.ts';

/**
 * Adds some of a plan's records to its staging keys, which expire unless the plan is activated: a daemon that dies
 * meanwhile leaves nothing behind.
 *
 * KEYS: the staging record keys. ARGV[1]: their life in ms; then for each record its id, its numbers
 * (`{ order, lane, pending?, due?, retry?, intent?, missed? }`) and the record itself.
 */
export const stageScript = makeScript(`
${nowLua}
local function place(key, score, member)
  if score then redis.call('ZADD', key, score, member) end
end
for at = 2, #ARGV, 3 do
  local id, index = ARGV[at], cjson.decode(ARGV[at + 1])
  redis.call('HSET', KEYS[1], id, ARGV[at + 2])
  place(KEYS[3], index.order, id)
  place(KEYS[4], index.pending, id)
  place(KEYS[5], index.due, id)
  place(KEYS[6], index.retry, id .. ':' .. index.lane)
  place(KEYS[7], index.intent and redisNow(), id)
  place(KEYS[8], index.missed, id)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return #ARGV
`);

/**
 * Makes a staged plan the policy's active rollout, or does nothing at all.
 *
 * KEYS: active, rollouts, number, rollout, events, groups, the eight staging keys, the eight final keys.
 * ARGV[1]: `{ id, write, fields, records, number, numberKeepMs, createdAt }`; ARGV[2]: the rollout; ARGV[3]: its
 * counters as a JSON list of names and values; ARGV[4]: its groups; then its events.
 * Answers `frozen`, `busy`, or `lost` when the staged records have run out.
 */
export const activateScript = makeScript(`
${appendEventLua}
${settlePlanLua}
local call = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[4], 'frozen') == call.write then return 'frozen' end
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('EXISTS', KEYS[4]) == 1 then return 'busy' end
if redis.call('HLEN', KEYS[7]) ~= call.records then return 'lost' end
settlePlan(7, cjson.decode(ARGV[3]))
redis.call('HSET', KEYS[4], 'json', ARGV[2], 'brake', '0', 'frozen', call.write, unpack(call.fields))
redis.call('SET', KEYS[6], ARGV[4])
redis.call('SET', KEYS[1], call.id)
redis.call('ZADD', KEYS[2], call.createdAt, call.id)
if call.number > tonumber(redis.call('GET', KEYS[3]) or '0') then
  redis.call('SET', KEYS[3], string.format('%.0f', call.number), 'PX', call.numberKeepMs)
end
for event = 5, #ARGV do appendEvent(KEYS[5], ARGV[event]) end
return 'frozen'
`);

/**
 * Puts a staged plan in the place of the one that waits for approval.
 *
 * KEYS: rollout, events, groups, the eight staging keys, the eight final keys.
 * ARGV[1]: `{ write, expectedRev, rev, fields, records }`; ARGV[2]: the rollout; ARGV[3]: its counters as a JSON list;
 * ARGV[4]: its groups; then its events. Answers `saved`, `stale`, or `lost` when the staged records have run out.
 */
export const replanScript = makeScript(`
${appendEventLua}
${settlePlanLua}
local call = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'rev', 'state', 'json', 'groupsMark')
if not stored[1] then return 'stale' end
local rev = tonumber(stored[1])
-- By its own mark, or by what it wrote: the caller may try again after a lost connection.
if stored[4] == call.write then return 'saved' end
if rev == call.rev and stored[3] == ARGV[2] and redis.call('GET', KEYS[3]) == ARGV[4] then return 'saved' end
if rev ~= call.expectedRev or stored[2] ~= 'awaitingApproval' then return 'stale' end
if redis.call('HLEN', KEYS[4]) ~= call.records then return 'lost' end
settlePlan(4, cjson.decode(ARGV[3]))
redis.call('HSET', KEYS[1], 'json', ARGV[2], unpack(call.fields))
redis.call('SET', KEYS[3], ARGV[4])
for event = 5, #ARGV do appendEvent(KEYS[2], ARGV[event]) end
return 'saved'
`);
