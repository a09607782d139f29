-- Lays late joiners ready. They expire unless they are taken up.
--
-- Keys: joiners, a hash.
-- Arguments: stagedForMs, how long they are kept; entries, each `{ id, text }`, of which `join-plan.lua` reads the text.

for _, entry in ipairs(entries) do
  redis.call('HSET', joinersKey, entry.id, entry.text)
end
redis.call('PEXPIRE', joinersKey, stagedForMs)
return #entries
