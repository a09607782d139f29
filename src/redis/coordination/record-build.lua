-- Stores what a build did in a rollout, and drops the records of the rollouts that ended first.
--
-- Keys: records, a hash of texts by rollout; ends, a sorted set of rollouts by when they ended.
-- Arguments: rollout, its id; endedAt; record, as JSON; recordsMax.
-- Returns: 1.

redis.call('HSET', recordsKey, rollout, record)
redis.call('ZADD', endsKey, endedAt, rollout)
local surplus = redis.call('ZCARD', endsKey) - recordsMax
for _, oldest in ipairs(surplus > 0 and redis.call('ZRANGE', endsKey, 0, surplus - 1) or {}) do
  redis.call('HDEL', recordsKey, oldest)
  redis.call('ZREM', endsKey, oldest)
end
return 1
