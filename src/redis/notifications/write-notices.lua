-- Writes messages for receivers, and what was announced with them, unless another daemon has announced meanwhile.
--
-- Keys: announced, a hash of what was announced; outbox, a list of messages.
-- Arguments: subject, its field; before, what was announced so far; after; messages; messagesMax.
-- Returns: -1 when another daemon was first; else how many of the oldest messages were dropped.

if (redis.call('HGET', announcedKey, subject) or '') ~= (before or '') then
  return -1
end
redis.call('HSET', announcedKey, subject, after)
for _, message in ipairs(messages) do
  redis.call('RPUSH', outboxKey, message)
end
local pushedOut = 0
while redis.call('LLEN', outboxKey) > messagesMax do
  redis.call('LREM', outboxKey, 1, redis.call('LINDEX', outboxKey, 0))
  pushedOut = pushedOut + 1
end
return pushedOut
