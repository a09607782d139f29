-- Notes that the service answers, if only with a refusal: an outage is over, a throttled sign-in is not.
--
-- Keys: state.
-- Answers: 1, or 0 when it was too early to count, during a pause.

--@include state

local state = readState()
if state.pausedUntilUs > nowUs then
  return 0
end
if state.down ~= '' then
  redis.call('HDEL', stateKey, 'growthMs', 'down', 'downAtUs')
end
return 1
