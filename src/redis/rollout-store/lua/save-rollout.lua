-- Saves a rollout, its brake, its events and its end. An ended rollout that is saved without an end becomes active again,
-- unless the policy has another active rollout.
--
-- Keys: rollout; events; milestones; fence; active, the id of the policy's active rollout; toPack, ids of ended rollouts by
-- their ends; groups; attributes; the record keys; packed.
-- Arguments: id; write, the mark of this call; fence, of the leader, or nil; expectedRev, of the rollout before; rev,
-- after; rollout, as JSON; fields, other fields of its hash, alternating names and values; brake, `set`, `lift` or `keep`;
-- endedAt, an instant or nil; historyMs, how long an ended rollout is kept; events, JSON texts.
-- Returns: `saved`; `stale` when the rollout has changed meanwhile; `packed` when its records must be unpacked before it can
-- become active again.

--@include append-events
--@include fence

local storedRev, storedWrite, json, wasEnded = unpack(redis.call('HMGET', rolloutKey, 'rev', 'write', 'json', 'ended'))
if not storedRev then
  return 'stale'
end
if storedWrite == write or (tonumber(storedRev) == rev and json == rollout) then
  return 'saved'
end
if fence and isFencedOff(fenceKey, fence) then
  return 'stale'
end
if tonumber(storedRev) ~= expectedRev then
  return 'stale'
end
local activeId = redis.call('GET', activeKey)
local isReopened = wasEnded == '1' and not endedAt
if isReopened and activeId and activeId ~= id then
  return 'stale'
end
if isReopened and redis.call('EXISTS', packedKey) == 1 then
  return 'packed'
end

redis.call('HSET', rolloutKey, 'json', rollout, 'ended', endedAt and '1' or '0', unpack(fields))
if brake == 'set' then
  redis.call('HSET', rolloutKey, 'brake', '1')
elseif brake == 'lift' then
  redis.call('HSET', rolloutKey, 'brake', '0')
end
appendMilestones(eventsKey, milestonesKey, events)

local keys = {
  rolloutKey, eventsKey, milestonesKey, groupsKey, attributesKey, packedKey,
  recordsKey, countersKey, orderKey, pendingKey, dueKey, retriesKey, intentsKey, missedKey, namesKey,
}
if endedAt then
  if activeId == id then
    redis.call('DEL', activeKey)
  end
  if wasEnded ~= '1' then
    redis.call('ZADD', toPackKey, endedAt, id)
  end
  for _, key in ipairs(keys) do
    redis.call('PEXPIRE', key, historyMs)
  end
elseif isReopened then
  redis.call('SET', activeKey, id)
  redis.call('ZREM', toPackKey, id)
  for _, key in ipairs(keys) do
    redis.call('PERSIST', key)
  end
end
return 'saved'
