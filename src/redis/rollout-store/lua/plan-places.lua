-- Reads the positions of collectors in their plan.
--
-- Keys: order, a sorted set of collectors by their position.
-- Arguments: collectors, their ids.
-- Returns: for each the position from 0, or -1 for one that is not in the plan.

local places = {}
for at, id in ipairs(collectors) do
  places[at] = redis.call('ZRANK', orderKey, id) or -1
end
return places
