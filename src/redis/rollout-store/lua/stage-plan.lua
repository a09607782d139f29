-- Adds some of a plan's records to its staging keys. They expire unless the plan is activated, so a daemon that dies
-- meanwhile leaves nothing behind.
--
-- Keys: the staging record keys.
-- Arguments: write, the mark of the plan; stagedForMs, how long they are kept; entries, each `{ id, record, order, index }`.

--@include place-record
--@include record

for _, entry in ipairs(entries) do
  redis.call('HSET', recordsKey, entry.id, markedRecord(write, entry.record))
  redis.call('ZADD', orderKey, entry.order, entry.id)
  placeRecord(entry.id, entry.index)
end
for _, key in ipairs({ recordsKey, countersKey, orderKey, pendingKey, dueKey, retriesKey, intentsKey, missedKey }) do
  redis.call('PEXPIRE', key, stagedForMs)
end
return #entries
