-- Refuses writes of a replaced leader, and stores the highest fence.
local function isFencedOff(key, fence)
  local newest = tonumber(redis.call('GET', key) or '0')
  if fence > newest then
    redis.call('SET', key, string.format('%.0f', fence))
  end
  return fence < newest
end
