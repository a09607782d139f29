-- Puts a staged plan in the place of the records that were there.
-- Keys: the record keys, and the same as staged.

local function settleKey(staged, final)
  redis.call('DEL', final)
  if redis.call('EXISTS', staged) == 1 then
    redis.call('RENAME', staged, final)
    redis.call('PERSIST', final)
  end
end

-- `counts` are the values of the plan's counters by their names.
local function settlePlan(counts)
  settleKey(stagedRecordsKey, recordsKey)
  settleKey(stagedOrderKey, orderKey)
  settleKey(stagedPendingKey, pendingKey)
  settleKey(stagedDueKey, dueKey)
  settleKey(stagedRetriesKey, retriesKey)
  settleKey(stagedIntentsKey, intentsKey)
  settleKey(stagedMissedKey, missedKey)
  settleKey(stagedNamesKey, namesKey)
  redis.call('DEL', countersKey)
  for counter, value in pairs(counts) do
    redis.call('HSET', countersKey, counter, value)
  end
end
