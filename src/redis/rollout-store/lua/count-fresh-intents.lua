-- Counts the creates without an answer whose intent was stored not long ago, by Redis's clock, which gave them their
-- scores.
--
-- Keys: intents, a sorted set of collectors by the instant of their intent.
-- Arguments: withinMs.
-- Answers: how many there are.

--@include ../../connection/redis-now

return redis.call('ZCOUNT', intentsKey, redisNow() - withinMs, '+inf')
