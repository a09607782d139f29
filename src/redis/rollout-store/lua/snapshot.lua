-- Reads all records of a rollout and its counters at one instant.
--
-- Keys: records, counters.
-- Arguments: collectors, for whose records a SHA-1 is returned: a corrupt record may be no valid text.
-- Returns: records, counters, and one SHA-1 for each collector; empty without a record.

local sha1s = {}
for at, id in ipairs(collectors) do
  local kept = redis.call('HGET', recordsKey, id)
  sha1s[at] = kept and redis.sha1hex(kept) or ''
end
return { redis.call('HGETALL', recordsKey), redis.call('HGETALL', countersKey), sha1s }
