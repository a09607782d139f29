-- Adds a collector of a plan to the bucket of its name; see `name-bucket.ts`.
-- Keys: names.

-- A command that was sent twice adds it twice, which readers ignore.
local function putName(bucket, id)
  local ids = redis.call('HGET', namesKey, bucket)
  redis.call('HSET', namesKey, bucket, ids and ids .. ' ' .. id or id)
end
