-- Records a success: the outage, the `single` phase and the growth of pauses end. A request that succeeds during a pause was
-- sent before it, and proves nothing.
--
-- Keys: state.
-- Returns: 1, or 0 when it was too early to count.

--@include state

if readState().pausedUntilUs > nowUs then
  return 0
end
redis.call('HDEL', stateKey, 'single', 'growthMs', 'down', 'downAtUs')
return 1
