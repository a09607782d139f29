import { appendEventLua, fenceLua } from './lua-parts.ts';
import { makeScript } from './script.ts';

/**
 * The one way a record changes in Redis: record, counters, sorted sets, events and brake in one step.
 *
 * KEYS: rollout, records, counters, pending, due, retries, intents, events, fence.
 * ARGV[1]: `{ mode: 'save' | 'intent' | 'admit', write, tripAbove?, rolloutRev?, slots?, fence? }`; then for each
 * change its numbers (`encodeChange`), its record, and its events.
 * Answers one verdict for each change: `saved`, `stale` or `braked`.
 *
 * Safe to send twice: a record that carries the mark of this very call is `saved` already and is not counted again.
 * The same content written by another call is taken for saved too, since the caller may try again after a lost
 * connection; but not an intent: two who write the same intent must not both create (P1).
 */
export const transitionScript = makeScript(`
${appendEventLua}
${fenceLua}
local call = cjson.decode(ARGV[1])
local rollout = redis.call('HMGET', KEYS[1], 'state', 'rev', 'brake')
local isRunning = rollout[1] == 'running' and rollout[3] ~= '1'
local isFencedOff = call.fence ~= nil and isFenced(KEYS[9], call.fence)
local isStarted = isRunning and (call.rolloutRev == nil or tonumber(rollout[2]) == call.rolloutRev)
local marked = ',"write":"'

local function revOf(current, id)
  local ok, record = pcall(cjson.decode, current)
  if not ok or type(record) ~= 'table' or type(record.rev) ~= 'number' then
    return nil, 'BROKENRECORD the record of collector ' .. id .. ' in ' .. KEYS[2] .. ' is not readable'
  end
  return record.rev, nil
end

local function place(key, score, id)
  if score then redis.call('ZADD', key, score, id) else redis.call('ZREM', key, id) end
end

local function count(change)
  local wave = change.wave .. ':'
  if change.from ~= change.to then
    redis.call('HINCRBY', KEYS[3], wave .. change.from, -1)
    redis.call('HINCRBY', KEYS[3], wave .. change.to, 1)
  end
  if change.slots ~= 0 then redis.call('HINCRBY', KEYS[3], 'slots', change.slots) end
  if change.lost ~= 0 then redis.call('HINCRBY', KEYS[3], wave .. 'lost', change.lost) end
  if change.changedAt then
    local last = tonumber(redis.call('HGET', KEYS[3], wave .. 'changedAt') or '0')
    if tonumber(change.changedAt) > last then redis.call('HSET', KEYS[3], wave .. 'changedAt', change.changedAt) end
  end
  if change.learnedMs then
    redis.call('HINCRBY', KEYS[3], 'learned:count', 1)
    redis.call('HINCRBY', KEYS[3], 'learned:sumMs', change.learnedMs)
  end
  if change.weight ~= 0 then
    local weight = tonumber(redis.call('HINCRBYFLOAT', KEYS[3], wave .. 'weight', change.weight))
    -- The brake counts as a change of the rollout, so that nobody who read it before can lift it unseen.
    if call.tripAbove ~= nil and change.weight > 0 and weight > call.tripAbove and rollout[3] ~= '1' then
      redis.call('HSET', KEYS[1], 'brake', '1')
      redis.call('HINCRBY', KEYS[1], 'rev', 1)
      rollout[3] = '1'
    end
  end
end

local function isWritten(body, current)
  if current == body .. marked .. call.write .. '"}' then return true end
  local head = body .. marked
  return call.mode ~= 'intent' and string.sub(current, 1, #head) == head
end

local function verdictOn(change, body, current)
  if not current then return 'stale' end
  local isRepeated = isWritten(body, current)
  if not isRepeated then
    local rev, broken = revOf(current, change.id)
    if broken then return nil, broken end
    if rev ~= change.rev then return 'stale' end
  end
  -- An intent that was sent again after a long while must not leave under a brake that was set meanwhile.
  if call.mode == 'intent' and not isRunning then return 'braked' end
  if isRepeated then return 'repeated' end
  if call.mode == 'admit' then
    if isFencedOff or not isStarted then return 'stale' end
    if tonumber(redis.call('HGET', KEYS[3], 'slots') or '0') + change.slots > call.slots then return 'stale' end
  end
  return 'fresh'
end

local verdicts = {}
local at = 2
while at <= #ARGV do
  local change = cjson.decode(ARGV[at])
  local body = ARGV[at + 1]
  local verdict, broken = verdictOn(change, body, redis.call('HGET', KEYS[2], change.id))
  if broken then return redis.error_reply(broken) end
  if verdict == 'fresh' then
    redis.call('HSET', KEYS[2], change.id, body .. marked .. call.write .. '"}')
    count(change)
    place(KEYS[4], change.pending, change.id)
    place(KEYS[5], change.due, change.id)
    place(KEYS[6], change.retry, change.id)
    place(KEYS[7], change.intent, change.id)
    for event = at + 2, at + 1 + change.events do appendEvent(KEYS[8], ARGV[event]) end
  end
  verdicts[#verdicts + 1] = (verdict == 'fresh' or verdict == 'repeated') and 'saved' or verdict
  at = at + 2 + change.events
end
return verdicts
`);
