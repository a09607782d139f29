-- Makes a staged plan the policy's active rollout, or does nothing at all.
--
-- Keys: active, the id of the policy's active rollout; rollouts, the ids of all; number, the day's last number; rollout;
-- events; milestones; groups; attributes; the record keys, and the same as staged.
-- Arguments: id; write, the mark of this call; rollout, as JSON; fields, other fields of its hash, alternating names and
-- values; groups, as JSON; attributes, a table or nothing; counts, of the plan; planned, the number of its records; events,
-- JSON texts; number, of this rollout on its day; numberKeptMs; createdAt.
-- Returns: `frozen`; `busy` when the policy has an active rollout, or the id is used; `lost` when the staged records have
-- expired.

--@include append-events
--@include put-attributes
--@include install-plan

if redis.call('HGET', rolloutKey, 'frozen') == write then
  return 'frozen'
end
if redis.call('EXISTS', activeKey) == 1 or redis.call('EXISTS', rolloutKey) == 1 then
  return 'busy'
end
if redis.call('HLEN', stagedRecordsKey) ~= planned then
  return 'lost'
end

installPlan(counts)
redis.call('HSET', rolloutKey, 'json', rollout, 'brake', '0', 'frozen', write, unpack(fields))
redis.call('SET', groupsKey, groups)
putAttributes('plan')
redis.call('SET', activeKey, id)
redis.call('ZADD', rolloutsKey, createdAt, id)
if number > tonumber(redis.call('GET', numberKey) or '0') then
  redis.call('SET', numberKey, string.format('%.0f', number), 'PX', numberKeptMs)
end
appendMilestones(eventsKey, milestonesKey, events)
return 'frozen'
