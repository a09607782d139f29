-- Takes the leader lease, or renews it.
--
-- Keys: lease, the owner; epoch, the last fence.
-- Arguments: owner; leaseMs, how long the lease lasts.
-- Answers: the fence of the owner; while another owner leads, minus the milliseconds that its lease lasts.
--
-- The epoch counts up when the lease changes hands, and only then: it is the fence of the owner, also when this is sent
-- twice. It is at least the second of Redis's clock. Policies on other nodes of a Cluster remember the highest fence
-- that they saw. They would refuse every fence of an epoch that counted from 1 again after its key was lost.

local current = redis.call('GET', leaseKey)
if current == owner then
  redis.call('PEXPIRE', leaseKey, leaseMs)
  return tonumber(redis.call('GET', epochKey) or '0')
end
if current then
  local left = redis.call('PTTL', leaseKey)
  -- A key without an end is not ours to wait for.
  return -(left > 0 and left or leaseMs)
end
redis.call('SET', leaseKey, owner, 'PX', leaseMs)
local nextEpoch = tonumber(redis.call('GET', epochKey) or '0') + 1
local epoch = math.max(nextEpoch, tonumber(redis.call('TIME')[1]))
redis.call('SET', epochKey, string.format('%.0f', epoch))
return epoch
