-- Records that the service answers. A refusal ends an outage, but no throttled sign-in. A success also ends the `single` phase
-- and the growth of pauses. An answer during a pause is to a request that was sent before it, and proves nothing.
--
-- Keys: state.
-- Arguments: kind, `success` or `refusal`.
-- Returns: 1, or 0 when it was too early to count.

--@include state

local state = readState()
if state.pausedUntilUs > nowUs then
  return 0
end
if kind == 'success' or state.down ~= '' then
  redis.call('HDEL', stateKey, 'growthMs', 'down', 'downAtUs')
end
if kind == 'success' then
  redis.call('HDEL', stateKey, 'single')
end
return 1
