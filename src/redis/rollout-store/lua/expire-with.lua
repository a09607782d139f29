-- Lets new keys of an ended rollout expire with its other keys.
local function expireWith(rolloutKey, keys)
  local leftMs = redis.call('PTTL', rolloutKey)
  if leftMs <= 0 then
    return
  end
  for _, key in ipairs(keys) do
    redis.call('PEXPIRE', key, leftMs)
  end
end
