-- Pauses the budget for all daemons. During a pause another one can only extend it: ten requests refused at once count as
-- one refusal.
--
-- Keys: state.
-- Arguments: kind, `rate`, `single` for a throttled sign-in, or `down`; reason, why the service is down, or ''; forMs, how
-- long the service asked for, or 0; firstMs and maxMs, the limits between which pauses double; recoveryMs, after which the
-- rate is back where it met a 429.
-- Returns: how long the pause lasts from now, in ms.

--@include state

local state = readState()
local untilUs = nowUs + forMs * 1000
if state.pausedUntilUs <= nowUs then
  local growthMs = math.min(math.max(state.growthMs * 2, firstMs), maxMs)
  redis.call('HSET', stateKey, 'growthMs', whole(growthMs))
  untilUs = math.max(untilUs, nowUs + growthMs * 1000)
  if kind == 'rate' then
    local share = string.format('%.6f', shareNow(state, recoveryMs))
    redis.call('HSET', stateKey, 'limitedShare', share, 'limitedAtUs', whole(nowUs))
    redis.call('HSET', stateKey, 'limited', withMore('limited', hourUs, 1))
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
