-- Stages late joiners. They expire unless they are added to the plan.
--
-- Keys: joiners, a hash.
-- Arguments: stagedForMs, how long they are kept; entries, each `{ id, text }`. `join-plan.lua` reads the text.

for _, entry in ipairs(entries) do
  redis.call('HSET', joinersKey, entry.id, entry.text)
end
redis.call('PEXPIRE', joinersKey, stagedForMs)
return #entries
