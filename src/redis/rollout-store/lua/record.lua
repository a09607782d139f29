-- How a record is kept: the mark of the write that brought it, a space, and its JSON. By the mark a command that was sent
-- twice is known from the same change made by somebody else.
local function markedRecord(write, json)
  return write .. ' ' .. json
end

-- The mark and the JSON of a kept record; nil for what is none.
local function openRecord(kept)
  return string.match(kept, '^(%S+) (.*)$')
end
