import { appendEventLua } from './lua-parts.ts';
import { makeScript } from './script.ts';

/**
 * Adds some of a plan's records to its staging keys, which expire unless the plan is activated: a daemon that dies
 * meanwhile leaves nothing behind.
 *
 * KEYS: the staging record keys. ARGV[1]: their life in ms; then for each record its id, its numbers
 * (`{ order, pending?, due?, retry?, intent? }`) and the record itself.
 */
export const stageScript = makeScript(`
local function place(key, score, id)
  if score then redis.call('ZADD', key, score, id) end
end
for at = 2, #ARGV, 3 do
  local id, index = ARGV[at], cjson.decode(ARGV[at + 1])
  redis.call('HSET', KEYS[1], id, ARGV[at + 2])
  place(KEYS[3], index.order, id)
  place(KEYS[4], index.pending, id)
  place(KEYS[5], index.due, id)
  place(KEYS[6], index.retry, id)
  place(KEYS[7], index.intent, id)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return #ARGV
`);

/**
 * Makes a staged plan the policy's active rollout, or does nothing at all.
 *
 * KEYS: active, rollouts, number, rollout, events, the seven staging keys, the seven final keys.
 * ARGV[1]: `{ id, write, records, number, numberKeepMs, createdAt, state, rev }`; ARGV[2]: the rollout; ARGV[3]: its
 * counters as a JSON list of names and values; then its events.
 * Answers `frozen`, `busy`, or `lost` when the staged records have run out.
 */
export const activateScript = makeScript(`
${appendEventLua}
local call = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[4], 'frozen') == call.write then return 'frozen' end
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('EXISTS', KEYS[4]) == 1 then return 'busy' end
if redis.call('HLEN', KEYS[6]) ~= call.records then return 'lost' end
for staged = 6, 12 do
  redis.call('DEL', KEYS[staged + 7])
  if redis.call('EXISTS', KEYS[staged]) == 1 then
    redis.call('RENAME', KEYS[staged], KEYS[staged + 7])
    redis.call('PERSIST', KEYS[staged + 7])
  end
end
local counters = cjson.decode(ARGV[3])
for at = 1, #counters, 2 do redis.call('HSET', KEYS[14], counters[at], counters[at + 1]) end
redis.call('HSET', KEYS[4], 'json', ARGV[2], 'state', call.state, 'rev', string.format('%.0f', call.rev),
  'brake', '0', 'write', call.write, 'frozen', call.write)
redis.call('SET', KEYS[1], call.id)
redis.call('ZADD', KEYS[2], string.format('%.0f', call.createdAt), call.id)
if call.number > tonumber(redis.call('GET', KEYS[3]) or '0') then
  redis.call('SET', KEYS[3], string.format('%.0f', call.number), 'PX', string.format('%.0f', call.numberKeepMs))
end
for event = 4, #ARGV do appendEvent(KEYS[5], ARGV[event]) end
return 'frozen'
`);
