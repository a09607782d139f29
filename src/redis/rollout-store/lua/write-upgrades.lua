-- Changes records of upgrades: the one way in which they change. Record, counters, sorted sets, events and brake change
-- in one step.
--
-- Keys: rollout, records, counters, pending, due, retries, intents, missed, events, fence.
-- Arguments:
--   mode        `save`; `admit`, which asks for room; `intent`, of a create; `rejoin`, which raises the rollout's rev, so
--               that nobody who read it before can end it over those who rejoin
--   write       the mark of this call
--   version     of these records. All changes of a rollout that was written in a newer version are stale. One that was
--               written in an earlier version is of this version from then on, and its rev is raised, so that nobody
--               who read it with an earlier version can change it
--   rolloutRev  of the rollout as the caller read it, or nil
--   slots       how many upgrades may run at once; for `admit`
--   fence       of the leader, or nil
--   changes     each `{ id, rev, state }` of the record before, and `{ record, index, counts, events }` after;
--               `slots`, by how much the slots in use change; `caps` of its domains by their counters; `weightCounter`
--               of its wave, and `tripAbove`, the weight above which the brake is set; `changedCounter` and
--               `changedAt`, when the state changed. Amounts are texts, so that Lua rounds none of them.
-- Answers: one verdict for each change, `saved`, `stale` or `braked`. All are stale where the rollout itself is not there,
-- because a part of Redis was lost.
--
-- Safe to send twice: a record with the mark of this very call is `saved` already, and is not counted again. The same
-- record written by another call is `saved` too, since the caller may try again after a lost connection; but not an
-- intent, since two callers who write the same intent must not both create (P1).

--@include append-events
--@include fence
--@include place-record
--@include record
--@include expire-with

local rolloutState, storedRev, brake, storedVersion =
  unpack(redis.call('HMGET', rolloutKey, 'state', 'rev', 'brake', 'v'))
local writtenVersion = tonumber(storedVersion or '1')
local isThere = storedRev and writtenVersion <= version
local isRunning = rolloutState == 'running' and brake ~= '1'
local isFenced = fence and isThere and isFencedOff(fenceKey, fence)
local isAsJudged = not rolloutRev or tonumber(storedRev) == rolloutRev

local function valueOf(counter)
  return tonumber(redis.call('HGET', countersKey, counter) or '0')
end

local function hasRoom(change)
  if valueOf('slots') + change.slots > slots then
    return false
  end
  for counter, cap in pairs(change.caps) do
    if valueOf(counter) + change.slots > tonumber(cap) then
      return false
    end
  end
  return true
end

-- Whether the mode allows a change of the record now: `yes`, `stale` or `braked`.
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

-- `fresh` for a change to be made, `repeated` for one that was made before, else the verdict; or nil and an error.
local function judge(change)
  local kept = redis.call('HGET', recordsKey, change.id)
  if not kept or not isThere then
    return 'stale'
  end
  local mark, json = openRecord(kept)
  local isRepeated = json == change.record and (mark == write or mode ~= 'intent')
  if not isRepeated then
    local isRead, record = pcall(cjson.decode, json or '')
    local isRecord = isRead and type(record) == 'table' and type(record.progress) == 'table'
    if not isRecord or type(record.rev) ~= 'number' then
      return nil, 'BROKENRECORD the record of collector ' .. change.id .. ' in ' .. recordsKey .. ' is not readable'
    end
    -- Where Redis went back, another record may have the rev of one that is lost: it is counted as another state.
    if record.rev ~= change.rev or record.progress.state ~= change.state then
      return 'stale'
    end
  end
  -- An intent that was sent again after a long while must not leave under a brake that was set meanwhile, nor when what it
  -- was decided by has changed.
  if isRepeated and mode ~= 'intent' then
    return 'repeated'
  end
  local allowed = permission(change)
  if allowed ~= 'yes' then
    return allowed
  end
  return isRepeated and 'repeated' or 'fresh'
end

local function count(change)
  for counter, amount in pairs(change.counts) do
    local value = addTo(counter, amount)
    -- The brake counts as a change of the rollout, so that nobody who read it before can lift it unseen.
    local isWorse = counter == change.weightCounter and tonumber(amount) > 0
    if isWorse and change.tripAbove and value > change.tripAbove and brake ~= '1' then
      redis.call('HSET', rolloutKey, 'brake', '1')
      redis.call('HINCRBY', rolloutKey, 'rev', 1)
      brake = '1'
    end
  end
  if change.changedAt and tonumber(change.changedAt) > valueOf(change.changedCounter) then
    redis.call('HSET', countersKey, change.changedCounter, change.changedAt)
  end
end

local verdicts = {}
local isChanged = false
for at, change in ipairs(changes) do
  local verdict, broken = judge(change)
  if broken then
    return redis.error_reply(broken)
  end
  if verdict == 'fresh' then
    redis.call('HSET', recordsKey, change.id, markedRecord(write, change.record))
    isChanged = true
    count(change)
    placeRecord(change.id, change.index, mode == 'intent')
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
