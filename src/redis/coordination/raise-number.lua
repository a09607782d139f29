-- Notes that a number of a day's rollouts is taken.
--
-- Keys: number, the highest that is taken.
-- Arguments: taken; keptMs.
-- Answers: 1.

if taken > tonumber(redis.call('GET', numberKey) or '0') then
  redis.call('SET', numberKey, string.format('%.0f', taken), 'PX', keptMs)
end
return 1
