-- Replaces the existing records by a staged plan.
-- Keys: the record keys, and the same as staged.

local function moveKey(staged, final)
  redis.call('DEL', final)
  if redis.call('EXISTS', staged) == 1 then
    redis.call('RENAME', staged, final)
    redis.call('PERSIST', final)
  end
end

-- `counts` are the values of the plan's counters by their names.
local function installPlan(counts)
  moveKey(stagedRecordsKey, recordsKey)
  moveKey(stagedOrderKey, orderKey)
  moveKey(stagedPendingKey, pendingKey)
  moveKey(stagedDueKey, dueKey)
  moveKey(stagedRetriesKey, retriesKey)
  moveKey(stagedIntentsKey, intentsKey)
  moveKey(stagedMissedKey, missedKey)
  moveKey(stagedNamesKey, namesKey)
  redis.call('DEL', countersKey)
  for counter, value in pairs(counts) do
    redis.call('HSET', countersKey, counter, value)
  end
end
