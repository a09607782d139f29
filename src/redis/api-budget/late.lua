-- Keeps a second between a request that left late and the one that comes R slots after it. Even spacing alone would let R + 1
-- requests arrive within a second.
--
-- Keys: late, a sorted set of `<instant>:<slot>` by the first slot that may not be before the instant.
-- Arguments: slot, the number of the late request's slot; slotsMax, how many requests a second may have; untilUs, how long from
-- now the slot after them waits.
-- Returns: nothing.

local time = redis.call('TIME')
local atUs = tonumber(time[1]) * 1000000 + tonumber(time[2]) + untilUs
redis.call('ZADD', lateKey, slot + slotsMax, string.format('%.0f:%.0f', atUs, slot))
redis.call('PEXPIRE', lateKey, 60000)
return 0
