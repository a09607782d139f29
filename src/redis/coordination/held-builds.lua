-- Reads the holds of builds only, because the same hash may hold thousands of collectors.
--
-- Keys: holds, a hash of texts by subject.
-- Returns: alternating fields and texts.

local found = {}
for _, field in ipairs(redis.call('HKEYS', holdsKey)) do
  if string.sub(field, 1, 6) == 'build:' then
    found[#found + 1] = field
    found[#found + 1] = redis.call('HGET', holdsKey, field)
  end
end
return found
