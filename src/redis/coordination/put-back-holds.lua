-- Restores holds after a data loss. Each hold is restored once, whichever daemon has it: a late second time would undo a
-- release. A newer hold is kept.
--
-- Keys: holds, a hash of texts by subject; holdsMark, a text that is another one after each change of the holds; broughtBack,
-- a set of fields.
-- Arguments: entries, each `{ field, text }`; mark, of this call; keptMs, how long `broughtBack` is kept.
-- Returns: the number of entries.

for _, entry in ipairs(entries) do
  if redis.call('SADD', broughtBackKey, entry.field) == 1 then
    redis.call('HSETNX', holdsKey, entry.field, entry.text)
  end
end
redis.call('SET', holdsMarkKey, mark)
redis.call('PEXPIRE', broughtBackKey, keptMs)
return #entries
