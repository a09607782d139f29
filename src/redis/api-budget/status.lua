-- Reads the status of the budget, without changes.
--
-- Keys: state.
-- Returns: requests a second over the last minute, with three decimals; 429s in the last hour; the kind of the pause
-- (`rate`, `single`, `down`, or '' without one); its remaining time in ms, or 0; why the service is down, or ''; since how
-- many ms, or -1; the share of the rate that may be used now, with three decimals.

--@include state

local state = readState()
local pausedFor, downAtUs = unpack(redis.call('HMGET', stateKey, 'pausedFor', 'downAtUs'))
local isPaused = state.pausedUntilUs > nowUs

local kind = ''
if state.down ~= '' then
  kind = 'down'
elseif isPaused then
  kind = pausedFor or 'rate'
elseif state.isSingle then
  kind = 'single'
end
local leftMs = 0
if isPaused then
  leftMs = math.ceil((state.pausedUntilUs - nowUs) / 1000)
end
local downForMs = -1
if state.down ~= '' and downAtUs then
  downForMs = math.max(0, nowUs - tonumber(downAtUs)) / 1000
end
return {
  string.format('%.3f', slidingCount('granted', minuteUs) / 60),
  math.ceil(slidingCount('limited', hourUs)),
  kind,
  leftMs,
  state.down,
  downForMs,
  string.format('%.3f', shareNow(state)),
}
