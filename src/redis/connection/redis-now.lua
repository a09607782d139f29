-- Milliseconds since the UNIX epoch, by Redis's clock, which all daemons share.
local function redisNow()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
