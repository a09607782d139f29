-- Records that the service answers, even with a refusal: an outage is over, a throttled sign-in is not.
--
-- Keys: state.
-- Returns: 1, or 0 during a pause, when it is too early to count.

--@include state

local state = readState()
if state.pausedUntilUs > nowUs then
  return 0
end
if state.down ~= '' then
  redis.call('HDEL', stateKey, 'growthMs', 'down', 'downAtUs')
end
return 1
