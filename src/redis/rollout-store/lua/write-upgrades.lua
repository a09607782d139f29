-- The only script that changes records of upgrades in a running rollout. Record, counters, sorted sets, events and brake
-- change in one step.
--
-- Keys: rollout, records, counters, pending, due, retries, intents, missed, events, fence (their types: rollout-keys.ts).
-- Every mode reads rollout and records, and writes records, counters, the five sorted sets and events; the rollout only where
-- it sets the brake or raises the rev. `admit` reads slots and caps in counters; fence is read where the caller leads.
-- Arguments:
--   mode        `save`; `admit`, which checks slots and caps; `intent`, of a create; `rejoin`, which raises the rollout's rev,
--               so that an earlier reader can't end the rollout over the collectors that rejoin
--   write       the mark of this call
--   version     of these records. All changes of a rollout with a newer version are stale. A rollout with an earlier version
--               gets this version, and its rev is raised, so that an earlier version can't save what it read before
--   rolloutRev  the rollout's rev that the caller read, or nil
--   slotsMax    the maximum of running upgrades; for `admit`
--   fence       of the leader, or nil
--   changes     each `{ id, rev, state }` of the record before, and `{ record, index, counts, events }` after;
--               `slots`, the change of slots in use; `caps` of its domains by their counters; `weightCounter` of its wave, and
--               `brakeAbove`, the weight above which the brake is set; `changedCounter` and `changedAt`, when the state
--               changed; `paceMs`, how much of the pace an intent uses up. Amounts are texts, so that Lua rounds none of
--               them.
-- Returns: one verdict for each change, `saved`, `stale` or `braked`. All are stale when the rollout itself is missing,
-- because a part of Redis was lost.
--
-- Safe to send twice: a record with the mark of this call is already `saved`, and not counted again. The same record written
-- by another call is `saved` as well, because the caller may retry after a lost connection. An intent is not, because two
-- callers with the same intent must not both create (P1).

--@include append-events
--@include fence
--@include place-record
--@include record
--@include expire-with

local rolloutState, storedRev, brake, storedVersion =
  unpack(redis.call('HMGET', rolloutKey, 'state', 'rev', 'brake', 'v'))
local writtenVersion = tonumber(storedVersion) or version
local isThere = storedRev and writtenVersion <= version
local isRunning = rolloutState == 'running' and brake ~= '1'
local isFenced = fence and isThere and isFencedOff(fenceKey, fence)
local isAsJudged = not rolloutRev or tonumber(storedRev) == rolloutRev

local function valueOf(counter)
  return tonumber(redis.call('HGET', countersKey, counter) or '0')
end

local function hasRoom(change)
  if valueOf('slots') + change.slots > slotsMax then
    return false
  end
  for counter, cap in pairs(change.caps) do
    if valueOf(counter) + change.slots > tonumber(cap) then
      return false
    end
  end
  return true
end

-- Whether the mode allows a change of the record: `yes`, `stale` or `braked`.
local function permission(change)
  if mode == 'intent' then
    return not isRunning and 'braked' or (not isAsJudged and 'stale') or 'yes'
  end
  if isFenced or not isAsJudged then
    return 'stale'
  end
  if mode == 'admit' and not (isRunning and hasRoom(change)) then
    return 'stale'
  end
  return 'yes'
end

-- Returns `fresh` for a change to apply, with the lane of the record before; `repeated` for one that was applied before;
-- else the verdict; or nil and an error.
local function judge(change)
  local kept = redis.call('HGET', recordsKey, change.id)
  if not kept or not isThere then
    return 'stale'
  end
  local mark, json = openRecord(kept)
  local isRepeated = json == change.record and (mark == write or mode ~= 'intent')
  local formerLane = nil
  if not isRepeated then
    local isRead, record = pcall(cjson.decode, json or '')
    local isRecord = isRead and type(record) == 'table' and type(record.progress) == 'table'
    if not isRecord or type(record.rev) ~= 'number' then
      return nil, 'BROKENRECORD the record of collector ' .. change.id .. ' in ' .. recordsKey .. ' is not readable'
    end
    -- After a partial data loss another record may have the rev of a lost one, so the state is compared as well.
    if record.rev ~= change.rev or record.progress.state ~= change.state then
      return 'stale'
    end
    local identity = type(record.identity) == 'table' and record.identity or {}
    formerLane = identity.lane and string.format('%.0f', identity.lane)
  end
  -- An intent that is sent again after a long time must not pass a brake that was set meanwhile, nor a changed rollout.
  if isRepeated and mode ~= 'intent' then
    return 'repeated'
  end
  local allowed = permission(change)
  if allowed ~= 'yes' then
    return allowed
  end
  return isRepeated and 'repeated' or 'fresh', formerLane
end

local function count(change)
  for counter, amount in pairs(change.counts) do
    local value = addTo(counter, amount)
    -- The brake raises the rollout's rev, so that an earlier reader can't lift it unseen.
    local isWorse = counter == change.weightCounter and tonumber(amount) > 0
    if isWorse and change.brakeAbove and value > change.brakeAbove and brake ~= '1' then
      redis.call('HSET', rolloutKey, 'brake', '1')
      redis.call('HINCRBY', rolloutKey, 'rev', 1)
      brake = '1'
    end
  end
  if mode == 'intent' and change.paceMs then
    local pacedUntil = math.max(valueOf('pacedUntil'), redisNow()) + change.paceMs
    redis.call('HSET', countersKey, 'pacedUntil', string.format('%.0f', pacedUntil))
  end
  if change.changedAt and tonumber(change.changedAt) > valueOf(change.changedCounter) then
    redis.call('HSET', countersKey, change.changedCounter, change.changedAt)
  end
end

local verdicts = {}
local isChanged = false
for at, change in ipairs(changes) do
  local verdict, detail = judge(change)
  if not verdict then
    return redis.error_reply(detail)
  end
  if verdict == 'fresh' then
    redis.call('HSET', recordsKey, change.id, markedRecord(write, change.record))
    isChanged = true
    count(change)
    placeRecord(change.id, change.index, mode == 'intent', detail)
    appendEvents(eventsKey, change.events)
  end
  verdicts[at] = (verdict == 'fresh' or verdict == 'repeated') and 'saved' or verdict
end

local isOlder = writtenVersion < version
if isChanged and (mode == 'rejoin' or isOlder) then
  redis.call('HINCRBY', rolloutKey, 'rev', 1)
end
if isChanged and isOlder then
  redis.call('HSET', rolloutKey, 'v', version)
end
expireWith(rolloutKey, { recordsKey, countersKey, pendingKey, dueKey, retriesKey, intentsKey, missedKey, eventsKey })
return verdicts
