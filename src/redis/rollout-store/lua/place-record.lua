-- Keeps the sorted sets and the counters of a rollout consistent with its records.
-- Keys: pending, due, retries, intents, missed, counters.

--@include ../../connection/redis-now

local function placeIn(key, score, member)
  if score then
    redis.call('ZADD', key, score, member)
  else
    redis.call('ZREM', key, member)
  end
end

-- Adds a collector to the sorted sets that its index names, and removes it from the others. The score of an intent is the
-- instant of its first write: saving the record again before the create is answered keeps it. `isNewIntent` replaces it.
-- `formerLane`: the lane in the record that this one replaces. A retry is kept under its lane, so it leaves that one.
local function placeRecord(id, index, isNewIntent, formerLane)
  placeIn(pendingKey, index.pending, id)
  placeIn(dueKey, index.due, id)
  if formerLane and formerLane ~= index.lane then
    redis.call('ZREM', retriesKey, id .. ':' .. formerLane)
  end
  placeIn(retriesKey, index.retry, id .. ':' .. index.lane)
  placeIn(missedKey, index.missed, id)
  if not index.intent then
    redis.call('ZREM', intentsKey, id)
  elseif isNewIntent then
    redis.call('ZADD', intentsKey, redisNow(), id)
  else
    redis.call('ZADD', intentsKey, 'NX', redisNow(), id)
  end
end

-- Adds to a counter, and removes it at 0. A weight may be a fraction, and sums of fractions reach 0 only approximately.
local function addTo(counter, amount)
  local value
  if string.sub(counter, -7) == ':weight' then
    value = tonumber(redis.call('HINCRBYFLOAT', countersKey, counter, amount))
    if math.abs(value) < 1e-9 then
      value = 0
    end
  else
    value = redis.call('HINCRBY', countersKey, counter, amount)
  end
  if value == 0 then
    redis.call('HDEL', countersKey, counter)
  end
  return value
end
