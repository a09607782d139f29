-- Takes the leader lease, or renews it.
--
-- Keys: lease, the owner; epoch, the last fence.
-- Arguments: owner; leaseMs, the length of the lease.
-- Returns: the owner's fence; while another owner leads, minus the remaining milliseconds of its lease.
--
-- The epoch is the owner's fence. It increases only when the lease changes hands, so it is the same when this is sent
-- twice. It is at least the second of Redis's clock: keys of policies on other nodes of a Cluster hold the highest fence so
-- far, and would refuse every fence of an epoch that started from 1 after its key was lost.

local current = redis.call('GET', leaseKey)
if current == owner then
  redis.call('PEXPIRE', leaseKey, leaseMs)
  return tonumber(redis.call('GET', epochKey) or '0')
end
if current then
  local left = redis.call('PTTL', leaseKey)
  -- A key without an expiry is not from this script.
  return -(left > 0 and left or leaseMs)
end
redis.call('SET', leaseKey, owner, 'PX', leaseMs)
local nextEpoch = tonumber(redis.call('GET', epochKey) or '0') + 1
local epoch = math.max(nextEpoch, tonumber(redis.call('TIME')[1]))
redis.call('SET', epochKey, string.format('%.0f', epoch))
return epoch
