-- Stores a daemon's report about its writes, and returns those of the others. The report itself is a write: one that is
-- missing later shows that Redis went back.
--
-- Keys: reports, a hash of `<instant> <number> <body>` by daemon.
-- Arguments: daemon; number, which rises with each report; body, its content as JSON; keptMs, after which a silent daemon is
-- forgotten.
-- Returns: the number of the daemon's report before this one; then, for each other daemon, its name and body.
--
-- Sent twice, it changes nothing more.

--@include ../connection/redis-now

local now = redisNow()
local before = 0
local others = {}
local entries = redis.call('HGETALL', reportsKey)
for at = 1, #entries, 2 do
  local reportedAt, stored, text = string.match(entries[at + 1], '^(%d+) (%d+) (.*)$')
  if entries[at] == daemon then
    before = tonumber(stored) or 0
  elseif not reportedAt or now - tonumber(reportedAt) > keptMs then
    redis.call('HDEL', reportsKey, entries[at])
  else
    others[#others + 1] = entries[at]
    others[#others + 1] = text
  end
end
local number = math.max(number, before)
redis.call('HSET', reportsKey, daemon, string.format('%.0f %.0f ', now, number) .. body)
redis.call('PEXPIRE', reportsKey, keptMs)
return { before, others }
