-- Releases the leader lease, if this owner holds it.
--
-- Keys: lease, the owner.
-- Arguments: owner.
-- Returns: 1 when it was released, else 0.

if redis.call('GET', leaseKey) ~= owner then
  return 0
end
return redis.call('DEL', leaseKey)
