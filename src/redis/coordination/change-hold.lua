-- Holds a build or a collector that is not held, or releases one.
--
-- Keys: holds, a hash of texts by what is held; mark, of this very call.
-- Arguments: field, what is held; hold, its text, or nil to release it; marksKeptMs.
-- Answers: 1 when this call changed something, else 0. The answer is the same when the call is sent again: without its
-- mark a repeated release would undo a hold that came after it.

if redis.call('EXISTS', markKey) == 1 then
  return 1
end
local changed
if hold then
  changed = redis.call('HSETNX', holdsKey, field, hold)
else
  changed = redis.call('HDEL', holdsKey, field)
end
if changed == 1 then
  redis.call('SET', markKey, '1', 'PX', marksKeptMs)
end
return changed
