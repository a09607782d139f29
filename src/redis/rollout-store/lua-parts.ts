// Enough for every upgrade of a large rollout's last hours; the log has all of them.
const eventsKeptMax = 10_000;

/** Appends events as JSON texts; `KEYS` and `ARGV` positions are the caller's. */
export const appendEventLua = `
local function appendEvent(stream, event)
  redis.call('XADD', stream, 'MAXLEN', '~', ${eventsKeptMax}, '*', 'event', event)
end
`;

/** Refuses writes of a leader that was followed by another one; remembers the newest. */
export const fenceLua = `
local function isFenced(key, fence)
  local seen = tonumber(redis.call('GET', key) or '0')
  if fence > seen then redis.call('SET', key, string.format('%.0f', fence)) end
  return fence < seen
end
`;

/** Milliseconds since the UNIX epoch by the one clock that all daemons share. */
const nowLua = `
local function redisNow()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
`;

/**
 * Puts a record into the sorted sets that its index names, and takes it out of the others; adds to counters. A weight
 * may be a fraction, and sums of fractions come back to 0 only nearly. A record that is saved again before its create
 * was answered stays where it stood among the intents; `isNewIntent` places it anew.
 */
export const recordLua = `
${nowLua}
local function place(key, score, member)
  if score then redis.call('ZADD', key, score, member) else redis.call('ZREM', key, member) end
end
local function placeAll(index, id, keys, isNewIntent)
  place(keys.pending, index.pending, id)
  place(keys.due, index.due, id)
  place(keys.retries, index.retry, id .. ':' .. index.lane)
  if not index.intent then redis.call('ZREM', keys.intents, id)
  elseif isNewIntent then redis.call('ZADD', keys.intents, redisNow(), id)
  else redis.call('ZADD', keys.intents, 'NX', redisNow(), id) end
  place(keys.missed, index.missed, id)
end
local function addTo(key, field, amount)
  local value
  if string.sub(field, -7) == ':weight' then
    value = tonumber(redis.call('HINCRBYFLOAT', key, field, amount))
    if math.abs(value) < 1e-9 then value = 0 end
  else
    value = redis.call('HINCRBY', key, field, amount)
  end
  if value == 0 then redis.call('HDEL', key, field) end
  return value
end
`;

/** What an ended rollout's keys get anew must not outlive the others. */
export const expireTogetherLua = `
local function expireTogether(like, first, last)
  local leftMs = redis.call('PTTL', like)
  if leftMs <= 0 then return end
  for key = first, last do redis.call('PEXPIRE', KEYS[key], leftMs) end
end
`;
