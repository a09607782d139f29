-- Records builds on offer, and drops those that have not been on offer for long.
--
-- Keys: builds, a hash of when each was first on offer; offered, a sorted set of builds by when they were last on offer.
-- Arguments: at, now by the clock of a daemon; forgetBefore, an instant; onOffer, the builds.
-- Returns: for each build when it was first on offer.
--
-- The first instant is kept, unless it is in the future of Redis's clock. Such an instant came from a clock that was ahead,
-- and would keep the build too young for as long. An instant that is merely smaller does not replace the first one, because
-- it may come from a clock that is behind.

-- Ages of builds are days, so clocks may differ by less than an hour.
local clocksDifferMs = 3600000
local soon = tonumber(redis.call('TIME')[1]) * 1000 + clocksDifferMs

for _, build in ipairs(onOffer) do
  local first = tonumber(redis.call('HGET', buildsKey, build) or at)
  if first and first > soon and first > at then
    redis.call('HSET', buildsKey, build, at)
  end
  redis.call('HSETNX', buildsKey, build, at)
  redis.call('ZADD', offeredKey, 'GT', at, build)
end

for _, build in ipairs(redis.call('ZRANGEBYSCORE', offeredKey, '-inf', '(' .. string.format('%.0f', forgetBefore))) do
  redis.call('HDEL', buildsKey, build)
  redis.call('ZREM', offeredKey, build)
end

local first = {}
for index, build in ipairs(onOffer) do
  first[index] = redis.call('HGET', buildsKey, build) or ''
end
return first
