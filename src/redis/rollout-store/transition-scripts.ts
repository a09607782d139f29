import { makeScript } from '../connection/commands.ts';
import { appendEventLua, expireTogetherLua, fenceLua, recordLua } from './lua-parts.ts';

/**
 * The one way a record changes in Redis: record, counters, sorted sets, events and brake in one step.
 *
 * KEYS: rollout, records, counters, pending, due, retries, intents, missed, events, fence.
 * ARGV[1]: `{ mode: 'save' | 'intent' | 'admit' | 'rejoin', write, v, rolloutRev?, slots?, fence? }`; then for each change
 * its numbers (`encodeChange`), its record, and its events.
 * Answers one verdict for each change: `saved`, `stale` or `braked`. All are stale where the rollout itself is not
 * there (a part of Redis was lost).
 *
 * `v` is the version of these records. A rollout that was written in a newer one is left alone: all are stale. One that
 * was written in an earlier one is of this version from then on, and its `rev` is raised, so that nobody who read it
 * with an earlier version can change it.
 *
 * Those who rejoin raise the rollout's `rev`, so that nobody who read it before can end it over them.
 *
 * Safe to send twice: a record that carries the mark of this very call is `saved` already and is not counted again.
 * The same content written by another call is taken for saved too, since the caller may try again after a lost
 * connection; but not an intent: two who write the same intent must not both create (P1).
 */
export const transitionScript = makeScript(`
${appendEventLua}
${fenceLua}
${recordLua}
${expireTogetherLua}
local call = cjson.decode(ARGV[1])
local rollout = redis.call('HMGET', KEYS[1], 'state', 'rev', 'brake', 'v')
local isRunning = rollout[1] == 'running' and rollout[3] ~= '1'
local written = tonumber(rollout[4] or '1')
local isThere = rollout[2] ~= false and written <= call.v
local isFencedOff = call.fence ~= nil and isThere and isFenced(KEYS[10], call.fence)
local isAsJudged = call.rolloutRev == nil or tonumber(rollout[2]) == call.rolloutRev
local isStarted = isRunning and isAsJudged
local marked = ',"write":"'
local sets = { pending = KEYS[4], due = KEYS[5], retries = KEYS[6], intents = KEYS[7], missed = KEYS[8] }

local function recordOf(current, id)
  local ok, record = pcall(cjson.decode, current)
  if not ok or type(record) ~= 'table' or type(record.rev) ~= 'number' or type(record.progress) ~= 'table' then
    return nil, 'BROKENRECORD the record of collector ' .. id .. ' in ' .. KEYS[2] .. ' is not readable'
  end
  return record, nil
end

local function counted(field)
  return tonumber(redis.call('HGET', KEYS[3], field) or '0')
end

local function count(change)
  for at = 1, #change.counts, 2 do
    local field, amount = change.counts[at], change.counts[at + 1]
    local value = addTo(KEYS[3], field, amount)
    -- The brake counts as a change of the rollout, so that nobody who read it before can lift it unseen.
    local isWorse = field == change.weightField and tonumber(amount) > 0
    if isWorse and change.tripAbove ~= nil and value > change.tripAbove and rollout[3] ~= '1' then
      redis.call('HSET', KEYS[1], 'brake', '1')
      redis.call('HINCRBY', KEYS[1], 'rev', 1)
      rollout[3] = '1'
    end
  end
  if change.changedAt and tonumber(change.changedAt) > counted(change.changedField) then
    redis.call('HSET', KEYS[3], change.changedField, change.changedAt)
  end
end

local function isWritten(body, current)
  if current == body .. marked .. call.write .. '"}' then return true end
  local head = body .. marked
  return call.mode ~= 'intent' and string.sub(current, 1, #head) == head
end

local function hasRoom(change)
  if counted('slots') + change.slots > call.slots then return false end
  for at = 1, #change.caps, 2 do
    if counted(change.caps[at]) + change.slots > tonumber(change.caps[at + 1]) then return false end
  end
  return true
end

local function verdictOn(change, body, current)
  if not current or not isThere then return 'stale' end
  local isRepeated = isWritten(body, current)
  if not isRepeated then
    local record, broken = recordOf(current, change.id)
    if broken then return nil, broken end
    -- Where Redis went back, another record may have the rev of one that is lost: it is counted as another state.
    if record.rev ~= change.rev or record.progress.state ~= change.state then return 'stale' end
  end
  -- An intent that was sent again after a long while must not leave under a brake that was set meanwhile, nor when
  -- what it was decided by has changed.
  if call.mode == 'intent' and not isRunning then return 'braked' end
  if call.mode == 'intent' and not isStarted then return 'stale' end
  if isRepeated then return 'repeated' end
  if (call.mode == 'rejoin' or call.mode == 'save') and (isFencedOff or not isAsJudged) then return 'stale' end
  if call.mode == 'admit' and (isFencedOff or not isStarted or not hasRoom(change)) then return 'stale' end
  return 'fresh'
end

local verdicts = {}
local isChanged = false
local at = 2
while at <= #ARGV do
  local change = cjson.decode(ARGV[at])
  local body = ARGV[at + 1]
  local verdict, broken = verdictOn(change, body, redis.call('HGET', KEYS[2], change.id))
  if broken then return redis.error_reply(broken) end
  if verdict == 'fresh' then
    redis.call('HSET', KEYS[2], change.id, body .. marked .. call.write .. '"}')
    isChanged = true
    count(change)
    placeAll(change, change.id, sets, call.mode == 'intent')
    for event = at + 2, at + 1 + change.events do appendEvent(KEYS[9], ARGV[event]) end
  end
  verdicts[#verdicts + 1] = (verdict == 'fresh' or verdict == 'repeated') and 'saved' or verdict
  at = at + 2 + change.events
end
if isChanged and (call.mode == 'rejoin' or written < call.v) then redis.call('HINCRBY', KEYS[1], 'rev', 1) end
if isChanged and written < call.v then redis.call('HSET', KEYS[1], 'v', call.v) end
expireTogether(KEYS[2], 3, 9)
return verdicts
`);

/**
 * Saves a rollout, its brake, its events and its end. One that had ended and is saved without an end is active again,
 * unless the policy has another one by now.
 *
 * KEYS: rollout, events, fence, active, groups, then the eight record keys, packed.
 * ARGV[1]: `{ id, write, expectedRev, rev, fields, brake: 'set' | 'lift' | 'keep', ended, keepMs, fence? }`;
 * ARGV[2]: the rollout; then its events. Answers `saved`, `stale`, or
 * `packed`: its records have to be unpacked before it can be open again.
 */
export const saveRolloutScript = makeScript(`
${appendEventLua}
${fenceLua}
local call = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'rev', 'write', 'json', 'ended')
if not stored[1] then return 'stale' end
local rev = tonumber(stored[1])
if stored[2] == call.write or (rev == call.rev and stored[3] == ARGV[2]) then return 'saved' end
if call.fence ~= nil and isFenced(KEYS[3], call.fence) then return 'stale' end
if rev ~= call.expectedRev then return 'stale' end
local active = redis.call('GET', KEYS[4])
local isReopened = stored[4] == '1' and not call.ended
if isReopened and active and active ~= call.id then return 'stale' end
if isReopened and redis.call('EXISTS', KEYS[14]) == 1 then return 'packed' end
redis.call('HSET', KEYS[1], 'json', ARGV[2], 'ended', call.ended and '1' or '0', unpack(call.fields))
if call.brake == 'set' then redis.call('HSET', KEYS[1], 'brake', '1') end
if call.brake == 'lift' then redis.call('HSET', KEYS[1], 'brake', '0') end
for event = 3, #ARGV do appendEvent(KEYS[2], ARGV[event]) end
local kept = { KEYS[1], KEYS[2], unpack(KEYS, 5) }
if call.ended then
  if active == call.id then redis.call('DEL', KEYS[4]) end
  for _, key in ipairs(kept) do redis.call('PEXPIRE', key, call.keepMs) end
elseif isReopened then
  redis.call('SET', KEYS[4], call.id)
  for _, key in ipairs(kept) do redis.call('PERSIST', key) end
end
return 'saved'
`);
