-- Adds a chunk of a plan's records to its staging keys. They expire unless the plan is activated, so a daemon that dies
-- meanwhile leaves nothing behind.
--
-- Keys: the staging record keys.
-- Arguments: write, the mark of the plan; stagedForMs, how long they are kept; entries, each `{ id, bucket, record, order, index }`.

--@include place-record
--@include put-name
--@include record

for _, entry in ipairs(entries) do
  redis.call('HSET', recordsKey, entry.id, markedRecord(write, entry.record))
  redis.call('ZADD', orderKey, entry.order, entry.id)
  placeRecord(entry.id, entry.index)
  putName(entry.bucket, entry.id)
end
for _, key in ipairs({
  recordsKey, countersKey, orderKey, pendingKey, dueKey, retriesKey, intentsKey, missedKey, namesKey,
}) do
  redis.call('PEXPIRE', key, stagedForMs)
end
return #entries
