-- Reads all holds, unless the caller has them already.
--
-- Keys: holds, a hash of texts by subject; holdsMark, a text that is another one after each change of the holds.
-- Arguments: knownMark, of the holds that the caller has; '' when it has none.
-- Returns: the mark; alternating fields and texts, without any when the caller has them.

local mark = redis.call('GET', holdsMarkKey) or ''
if mark ~= '' and mark == knownMark then
  return { mark, {} }
end
return { mark, redis.call('HGETALL', holdsKey) }
