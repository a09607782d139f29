-- Pauses the budget for all daemons. During a pause another one can only extend it: ten requests refused at once count as
-- one refusal.
--
-- Keys: state.
-- Arguments: kind, `rate`, `single` for a throttled sign-in, or `down`; reason, why the service is down, or ''; forMs, how
-- long the service asked for, or 0; firstMs and maxMs, the limits between which pauses double; recoveryMinMs and recoveryMaxMs,
-- the limits between which recoveries double.
-- Returns: how long the pause lasts from now, in ms.

--@include state

-- A 429 lowers the rate by this share. Two clients of one limit that both do so converge to equal shares.
local usualBackOff = 0.2
-- A lower rate does not help where 429s still come at this share. So many show it, without one at a high share between them.
local lowShare = 0.25
local highShare = 0.5
local lowHitsMax = 3
-- Then few 429s lower the rate no more, for so long. Afterwards it is tried again.
local strayUs = 20 * 60 * 1000000
-- Few are one of so many requests in a minute, and so many at a low rate.
local fewOf = 8
local fewMax = 3

local state = readState()

local function lowerRate()
  local share = shareNow(state)
  redis.call('HSET', stateKey, 'refused', withMore('refused', minuteUs, 1), 'limited', withMore('limited', hourUs, 1))
  local isFew = slidingCount('refused', minuteUs) <= math.max(fewMax, slidingCount('granted', minuteUs) / fewOf)
  if isFew and nowUs < state.strayUntilUs then
    return
  end
  local limitedShare, backOff, strayUntilUs = share, usualBackOff, 0
  local lowHits = isFew and share <= highShare and state.lowHits or 0
  -- After a 429 at the whole rate the rate is soon whole again. Where it meets the next one sooner, others use the limit.
  local recoveryMs = share > 0.999 and recoveryMinMs or math.min(2 * state.recoveryMs, recoveryMaxMs)
  if isFew and share <= lowShare then
    lowHits = lowHits + 1
    if lowHits >= lowHitsMax then
      limitedShare, backOff, recoveryMs = 1, 1 - share, recoveryMinMs
      lowHits, strayUntilUs = 0, nowUs + strayUs
    end
  end
  redis.call('HSET', stateKey, 'limitedShare', string.format('%.6f', limitedShare), 'limitedAtUs', whole(nowUs),
    'backOff', string.format('%.6f', backOff), 'recoveryMs', whole(recoveryMs), 'lowHits', lowHits,
    'strayUntilUs', whole(strayUntilUs))
end

local untilUs = nowUs + forMs * 1000
if state.pausedUntilUs <= nowUs then
  local growthMs = math.min(math.max(state.growthMs * 2, firstMs), maxMs)
  redis.call('HSET', stateKey, 'growthMs', whole(growthMs))
  untilUs = math.max(untilUs, nowUs + growthMs * 1000)
  if kind == 'rate' then
    lowerRate()
  end
end

untilUs = math.min(untilUs, nowUs + pauseMaxUs)
if untilUs > state.pausedUntilUs then
  redis.call('HSET', stateKey, 'pausedUntilUs', whole(untilUs), 'pausedAtUs', whole(nowUs), 'pausedFor', kind)
else
  untilUs = state.pausedUntilUs
end

if kind == 'single' then
  redis.call('HSET', stateKey, 'single', '1')
end
if kind == 'down' then
  if state.down == '' then
    redis.call('HSET', stateKey, 'downAtUs', whole(nowUs))
  end
  redis.call('HSET', stateKey, 'down', reason)
end
keep(stateKey)
return math.ceil((untilUs - nowUs) / 1000)
