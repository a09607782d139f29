-- Takes permits and slots for the requests that wait in one daemon: the permit first, then the next slot. Only near slots
-- are taken, because slots taken early are used in bursts after a stall.
--
-- Keys: state; permits, a sorted set of permits by the instant at which they expire; late, the instants before which slots
-- may not be, by slot.
-- Arguments: returned, unused permits; wanted, permits to take; slackUs, how late the slots may be used, before the next slot
-- of any daemon; and the parameters of the budget: spacingUs and marginShare between two slots; missedMaxUs, how old a slot may be that is still granted; horizonUs and moreHorizonUs,
-- how near the first and the further slots must be; slackMaxUs; permitsMax; permitLifeMs, after which a permit that was not
-- returned is free again.
-- Returns: Redis's time in µs; `granted`, `full`, `far` or `paused`; how long to wait, in µs; 1 when a success would change
-- something; why the service is down, or ''; the slots in µs, one for each of the first permits; the number of the first slot.
--
-- Sent twice, it may waste a slot, but never grants one slot to two requests.

--@include state

for _, permit in ipairs(returned) do
  redis.call('ZREM', permitsKey, permit)
end
redis.call('ZREMRANGEBYSCORE', permitsKey, '-inf', '(' .. whole(nowUs / 1000))

local state = readState()

local function answer(kind, waitUs, slots)
  local isPhase = state.isSingle or state.growthMs > 0
  return { nowUs, kind, waitUs, isPhase and 1 or 0, state.down, slots, state.slots + 1 }
end

if state.pausedUntilUs > nowUs then
  return answer('paused', state.pausedUntilUs - nowUs, {})
end
local free = (state.isSingle and 1 or permitsMax) - redis.call('ZCARD', permitsKey)
if free <= 0 then
  return answer('full', 0, {})
end

local spacing = spacingUs * (1 + marginShare) / shareNow(state)
local slot = state.nextUs
-- No reservation is further ahead than this, so the clock was set back.
if slot - nowUs > horizonUs + moreHorizonUs + slackMaxUs + 4 * spacing then
  slot = nowUs + spacing
end
-- A slot missed by little may still be used. An older one is dropped, to avoid a burst.
slot = math.max(slot, nowUs - missedMaxUs)

-- A request that left late moves the slots of the second after it.
local notBefore = {}
redis.call('ZREMRANGEBYSCORE', lateKey, '-inf', whole(state.slots))
local late = redis.call('ZRANGEBYSCORE', lateKey, '-inf', whole(state.slots + #wanted), 'WITHSCORES')
for at = 1, #late, 2 do
  local place = tonumber(late[at + 1]) - state.slots
  notBefore[place] = math.max(notBefore[place] or 0, tonumber(string.match(late[at], '^%d+')))
end

local slots = {}
for at = 1, math.min(#wanted, free) do
  slot = math.max(slot, notBefore[at] or 0)
  local horizon = at == 1 and horizonUs or moreHorizonUs
  if slot - nowUs > horizon then
    break
  end
  redis.call('ZADD', permitsKey, whole(nowUs / 1000 + permitLifeMs), wanted[at])
  slots[at] = slot
  slot = slot + spacing
end
if #slots == 0 then
  return answer('far', slot - nowUs, {})
end
redis.call('HSET', stateKey, 'nextUs', whole(slot + slackUs), 'granted', withMore('granted', minuteUs, #slots), 'slots',
  whole(state.slots + #slots))
keep(stateKey)
keep(permitsKey)
return answer('granted', 0, slots)
