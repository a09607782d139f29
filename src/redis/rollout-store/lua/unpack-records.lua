-- Restores the records of one pack, and deletes the pack.
--
-- Keys: rollout, records, packed.
-- Arguments: pack, its field; records, the packed ones, each `{ id, text }`.
-- Returns: 1 when it was done, 0 without such a pack.

--@include expire-with

if redis.call('HEXISTS', packedKey, pack) == 0 then
  return 0
end
for _, record in ipairs(records) do
  redis.call('HSETNX', recordsKey, record.id, record.text)
end
redis.call('HDEL', packedKey, pack)
expireWith(rolloutKey, { recordsKey })
return 1
