-- Counts creates in doubt or in flight whose intent is recent, by Redis's clock, which set their scores.
--
-- Keys: intents, a sorted set of collectors by the instant of their intent.
-- Arguments: withinMs.
-- Returns: the count.

--@include ../../connection/redis-now

return redis.call('ZCOUNT', intentsKey, redisNow() - withinMs, '+inf')
