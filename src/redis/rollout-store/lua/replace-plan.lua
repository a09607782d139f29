-- Replaces a plan that waits for approval by a staged plan.
--
-- Keys: rollout; events; milestones; groups; attributes; the record keys, and the same as staged.
-- Arguments: write, the mark of this call; expectedRev, of the rollout before; rev, after; rollout, as JSON; fields, other
-- fields of its hash, alternating names and values; groups, as JSON; attributes, a table or nothing; counts, of the plan;
-- planned, the number of its records; events, JSON texts.
-- Returns: `saved`; `stale` when the rollout has changed meanwhile; `lost` when the staged records have expired.

--@include append-events
--@include put-attributes
--@include install-plan

local storedRev, state, json, groupsMark = unpack(redis.call('HMGET', rolloutKey, 'rev', 'state', 'json', 'groupsMark'))
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
if tonumber(storedRev) ~= expectedRev or state ~= 'awaitingApproval' then
  return 'stale'
end
if redis.call('HLEN', stagedRecordsKey) ~= planned then
  return 'lost'
end

installPlan(counts)
redis.call('HSET', rolloutKey, 'json', rollout, unpack(fields))
redis.call('SET', groupsKey, groups)
redis.call('DEL', attributesKey)
putAttributes('plan')
appendMilestones(eventsKey, milestonesKey, events)
return 'saved'
