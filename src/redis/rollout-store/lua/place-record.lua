-- Keeps the sorted sets and the counters of a rollout in step with its records.
-- Keys: pending, due, retries, intents, missed, counters.

--@include ../../connection/redis-now

local function placeIn(key, score, member)
  if score then
    redis.call('ZADD', key, score, member)
  else
    redis.call('ZREM', key, member)
  end
end

-- Puts a collector into the sorted sets that its index names, and takes it out of the others. The score of an intent is
-- the instant of its first write: a record that is saved again before its create was answered stays where it stood.
-- `isNewIntent` places it again.
local function placeRecord(id, index, isNewIntent)
  placeIn(pendingKey, index.pending, id)
  placeIn(dueKey, index.due, id)
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

-- Adds to a counter; one that comes to 0 is removed. A weight may be a fraction, and sums of fractions come back to 0
-- only nearly.
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
