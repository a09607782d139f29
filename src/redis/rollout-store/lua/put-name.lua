-- Files collectors of a plan under the buckets of their names; see `name-bucket.ts`.
-- Keys: names.

-- Filed twice, as by a command that was sent twice, it is found twice: who looks a name up does not mind.
local function putName(bucket, id)
  local ids = redis.call('HGET', namesKey, bucket)
  redis.call('HSET', namesKey, bucket, ids and ids .. ' ' .. id or id)
end
