-- Holds a build or a collector that is not yet held, or releases one.
--
-- Keys: holds, a hash of texts by subject; holdsMark, a text that is another one after each change of the holds; mark, of
-- this call.
-- Arguments: field, the subject; hold, its text, or nil to release it; marksKeptMs.
-- Returns: 1 when this call changed something, else 0. The mark gives the same result when the call is sent twice: a
-- repeated release would otherwise undo a later hold.

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
  redis.call('SET', holdsMarkKey, markKey)
end
return changed
