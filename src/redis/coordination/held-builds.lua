-- Shows the holds of builds. Thousands of collectors may be held in the same hash.
--
-- Keys: holds, a hash of texts by what is held.
-- Answers: fields and texts in turn.

local found = {}
for _, field in ipairs(redis.call('HKEYS', holdsKey)) do
  if string.sub(field, 1, 6) == 'build:' then
    found[#found + 1] = field
    found[#found + 1] = redis.call('HGET', holdsKey, field)
  end
end
return found
