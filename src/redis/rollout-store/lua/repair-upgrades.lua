-- Replaces corrupt records: all of them, or none.
--
-- Keys: rollout, records, counters, pending, due, retries, intents, missed, events.
-- Arguments:
--   write    the mark of this call
--   repairs  each `{ id, sha1, record, index, event }`; `sha1` of the replaced bytes
--   counts   what is added to the counters; amounts are texts, so that Lua rounds none of them
--   changed  the last change of each wave, by its counter
-- Returns: 1 when it was done. Sent twice, the second call finds other bytes, and does nothing.

--@include append-events
--@include place-record
--@include record
--@include expire-with

if redis.call('EXISTS', rolloutKey) == 0 then
  return 0
end
for _, repair in ipairs(repairs) do
  local kept = redis.call('HGET', recordsKey, repair.id)
  if not kept or redis.sha1hex(kept) ~= repair.sha1 then
    return 0
  end
end
for _, repair in ipairs(repairs) do
  redis.call('HSET', recordsKey, repair.id, markedRecord(write, repair.record))
  placeRecord(repair.id, repair.index, false)
  appendEvents(eventsKey, { repair.event })
end
for counter, amount in pairs(counts) do
  addTo(counter, amount)
end
for counter, at in pairs(changed) do
  if tonumber(at) > tonumber(redis.call('HGET', countersKey, counter) or '0') then
    redis.call('HSET', countersKey, counter, at)
  end
end
expireWith(rolloutKey, { countersKey, pendingKey, dueKey, retriesKey, intentsKey, missedKey, eventsKey })
return 1
