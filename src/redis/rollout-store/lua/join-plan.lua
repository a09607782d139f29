-- Adds the staged late joiners that have no record yet, with the new rollout and groups.
--
-- Keys: rollout; events; milestones; fence; groups; attributes; the record keys; joiners, a hash of JSON texts
-- `{ bucket, record, order, index, counts }` by collector.
-- Arguments: write, the mark of this call; fence, of the leader, or nil; expectedRev, of the rollout before; rev, after;
-- rollout, as JSON; fields, other fields of its hash, alternating names and values; groups, as JSON; attributes, a table of
-- the joiners or nothing; joining, the number of joiners; events, JSON texts.
-- Returns: `saved`; `stale` when the rollout has changed meanwhile; `lost` when the joiners have expired.

--@include append-events
--@include fence
--@include place-record
--@include put-attributes
--@include put-name
--@include record
--@include expire-with

local storedRev, json, groupsMark = unpack(redis.call('HMGET', rolloutKey, 'rev', 'json', 'groupsMark'))
if not storedRev then
  return 'stale'
end
-- Already written, by this call or an identical one: the caller may retry after a lost connection.
if groupsMark == write then
  return 'saved'
end
if tonumber(storedRev) == rev and json == rollout and redis.call('GET', groupsKey) == groups then
  return 'saved'
end
if fence and isFencedOff(fenceKey, fence) then
  return 'stale'
end
if tonumber(storedRev) ~= expectedRev then
  return 'stale'
end
if redis.call('HLEN', joinersKey) ~= joining then
  return 'lost'
end

local staged = redis.call('HGETALL', joinersKey)
for at = 1, #staged, 2 do
  local id, joiner = staged[at], cjson.decode(staged[at + 1])
  if redis.call('HSETNX', recordsKey, id, markedRecord(write, joiner.record)) == 1 then
    redis.call('ZADD', orderKey, joiner.order, id)
    placeRecord(id, joiner.index)
    putName(joiner.bucket, id)
    for counter, amount in pairs(joiner.counts) do
      addTo(counter, amount)
    end
  end
end
redis.call('DEL', joinersKey)
redis.call('HSET', rolloutKey, 'json', rollout, unpack(fields))
redis.call('SET', groupsKey, groups)
putAttributes(string.format('%.0f', rev))
appendMilestones(eventsKey, milestonesKey, events)
expireWith(rolloutKey, {
  groupsKey, attributesKey, eventsKey, milestonesKey, recordsKey, countersKey, orderKey, pendingKey, dueKey, retriesKey,
  intentsKey, missedKey, namesKey,
})
return 'saved'
