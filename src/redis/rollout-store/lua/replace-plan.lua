-- Puts a staged plan in the place of the plan that waits for approval.
--
-- Keys: rollout; events; groups; attributes; the record keys, and the same as staged.
-- Arguments: write, the mark of this call; expectedRev, of the rollout before; rev, after; rollout, as JSON; fields, what
-- stands beside it, names and values in turn; groups, as JSON; attributes, a table or nothing; counts, of the plan; planned, how many records it has;
-- events, JSON texts.
-- Answers: `saved`; `stale` when the rollout has changed meanwhile; `lost` when the staged records have expired.

--@include append-events
--@include put-attributes
--@include settle-plan

local storedRev, state, json, groupsMark = unpack(redis.call('HMGET', rolloutKey, 'rev', 'state', 'json', 'groupsMark'))
if not storedRev then
  return 'stale'
end
-- Written by this very call, or the same by another: the caller may try again after a lost connection.
if groupsMark == write then
  return 'saved'
end
if tonumber(storedRev) == rev and json == rollout and redis.call('GET', groupsKey) == groups then
  return 'saved'
end
if tonumber(storedRev) ~= expectedRev or state ~= 'awaitingApproval' then
  return 'stale'
end
if redis.call('HLEN', stagedRecordsKey) ~= planned then
  return 'lost'
end

settlePlan(counts)
redis.call('HSET', rolloutKey, 'json', rollout, unpack(fields))
redis.call('SET', groupsKey, groups)
redis.call('DEL', attributesKey)
putAttributes('plan')
appendEvents(eventsKey, events)
return 'saved'
