-- Gives the leader lease up, if this owner holds it.
--
-- Keys: lease, the owner.
-- Arguments: owner.
-- Answers: 1 when it was given up, else 0.

if redis.call('GET', leaseKey) ~= owner then
  return 0
end
return redis.call('DEL', leaseKey)
