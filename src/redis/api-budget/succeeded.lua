-- Notes that the service answers normally: single tries, growing pauses and an outage are over. A success during a
-- pause left before the pause, and proves nothing.
--
-- Keys: state.
-- Answers: 1, or 0 when it was too early to count.

--@include state

if readState().pausedUntilUs > nowUs then
  return 0
end
redis.call('HDEL', stateKey, 'single', 'growthMs', 'down', 'downAtUs')
return 1
