-- The stored form of a record: the mark of its last write, a space, and its JSON. The mark distinguishes a command that was
-- sent twice from the same change by another call.
local function markedRecord(write, json)
  return write .. ' ' .. json
end

-- Returns the mark and the JSON of a stored record; nil for another text.
local function openRecord(kept)
  return string.match(kept, '^(%S+) (.*)$')
end
