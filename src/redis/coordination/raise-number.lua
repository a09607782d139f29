-- Records that a number of a day's rollouts is used.
--
-- Keys: number, the highest used number.
-- Arguments: taken; keptMs.
-- Returns: 1.

if taken > tonumber(redis.call('GET', numberKey) or '0') then
  redis.call('SET', numberKey, string.format('%.0f', taken), 'PX', keptMs)
end
return 1
