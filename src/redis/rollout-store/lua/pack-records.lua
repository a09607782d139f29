-- Replaces records by one pack, all of them or none. It does nothing when the rollout is open again, when a record has
-- changed since it was read, or when the pack exists.
--
-- Keys: rollout, records, packed.
-- Arguments: pack, its field; body; records, the packed ones, each `{ id, sha1 }`.
-- Returns: 1 when it was done, else 0.

--@include expire-with

if redis.call('HGET', rolloutKey, 'ended') ~= '1' or redis.call('HEXISTS', packedKey, pack) == 1 then
  return 0
end
for _, record in ipairs(records) do
  local current = redis.call('HGET', recordsKey, record.id)
  if not current or redis.sha1hex(current) ~= record.sha1 then
    return 0
  end
end
redis.call('HSET', packedKey, pack, body)
for _, record in ipairs(records) do
  redis.call('HDEL', recordsKey, record.id)
end
expireWith(rolloutKey, { packedKey })
return 1
