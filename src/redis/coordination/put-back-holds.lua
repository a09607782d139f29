-- Puts holds back after a data loss. Each hold comes back once, whichever daemon brings it: a second one, late, would undo a
-- release. What an operator has said again stands.
--
-- Keys: holds, a hash of texts by what is held; broughtBack, a set of fields.
-- Arguments: entries, each `{ field, text }`; keptMs, how long it is known what was brought.
-- Answers: how many entries there were.

for _, entry in ipairs(entries) do
  if redis.call('SADD', broughtBackKey, entry.field) == 1 then
    redis.call('HSETNX', holdsKey, entry.field, entry.text)
  end
end
redis.call('PEXPIRE', broughtBackKey, keptMs)
return #entries
