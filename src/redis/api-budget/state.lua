-- The state of an API budget, for scripts with the key `state`. They begin with this.
--
-- A hash. Instants are microseconds of Redis's clock: at 400 requests a second a slot is 2,500 µs.
--   nextUs                 the next free slot
--   pausedUntilUs          the end of the last pause
--   pausedAtUs, pausedFor  when that pause was asked for, and its kind: rate, single or down
--   single                 '1' while one request at a time may try to sign in
--   down, downAtUs         why the service is down, and since when; one request at a time tries meanwhile
--   growthMs               how long the last pause was
--   limitedShare           the share of the rate in use when the last 429 came, from 0 to 1
--   limitedAtUs            when that was
--   granted, limited       slots by the minute and 429s by the hour, each `window count before`: the number of the
--                          window, its count, and the count of the window before it

-- The longest pause, whatever a service asks for. A longer wait is an outage, which the next refusal reports again.
local pauseMaxUs = 3600 * 1000000
-- A clock that is set back by less than this makes a pause that much longer, and nothing else.
local clockSlackUs = 1000000
-- A budget without requests for a week has nothing left to keep: no pause, permit or margin lasts so long.
local keptMs = 7 * 24 * 3600000

-- A 429 takes this part of the rate. Two clients of one limit which both do so come to equal parts.
local backOff = 0.2
-- What is added to the share in the second recovery time after a 429: 0.2 of the whole rate.
local growth = 0.2
-- A rate below this one would let no upgrade end in time. Pauses, which grow, protect the service then.
local shareMin = 0.1

local minuteUs = 60 * 1000000
local hourUs = 3600 * 1000000

local time = redis.call('TIME')
local nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function keep(key)
  redis.call('PEXPIRE', key, keptMs)
end

-- Lua writes large numbers as 1.7e+15, which Redis does not read as an integer.
local function whole(number)
  return string.format('%.0f', number)
end

local function readState()
  local fields = redis.call('HMGET', stateKey, 'nextUs', 'pausedUntilUs', 'pausedAtUs', 'single', 'down', 'growthMs',
    'limitedShare', 'limitedAtUs')
  local pausedUntilUs = tonumber(fields[2] or '0')
  local pausedAtUs = tonumber(fields[3] or '0')
  local down = fields[5] or ''
  -- Nobody asks for a longer pause, nor for one in the future: the clock was set back.
  if pausedAtUs - nowUs > clockSlackUs or pausedUntilUs - nowUs > pauseMaxUs then
    pausedUntilUs = 0
  end
  return {
    nextUs = tonumber(fields[1] or '0'),
    pausedUntilUs = pausedUntilUs,
    isSingle = fields[4] == '1' or down ~= '',
    down = down,
    growthMs = tonumber(fields[6] or '0'),
    limitedShare = tonumber(fields[7] or '1'),
    limitedAtUs = tonumber(fields[8] or '0'),
  }
end

local function countedIn(field, windowUs)
  local window, count, before = string.match(redis.call('HGET', stateKey, field) or '', '^(%d+) (%d+) (%d+)$')
  local passed = math.floor(nowUs / windowUs) - (tonumber(window) or -1)
  if passed == 0 then
    return tonumber(count), tonumber(before)
  end
  return 0, passed == 1 and tonumber(count) or 0
end

local function withMore(field, windowUs, more)
  local count, before = countedIn(field, windowUs)
  return string.format('%.0f %.0f %.0f', math.floor(nowUs / windowUs), count + more, before)
end

-- Over a window that ends now: the window before counts with the share of it that still reaches into this one.
local function slidingCount(field, windowUs)
  local count, before = countedIn(field, windowUs)
  return count + before * (1 - (nowUs % windowUs) / windowUs)
end

-- The share of the rate that may be used now. After a 429 it follows the curve of CUBIC (RFC 9438): quickly back towards
-- the share that met the 429, slowly past it, then ever faster. So little is lost where the limit still is, and the
-- whole rate is soon back where the limit is gone.
local function shareNow(state, recoveryMs)
  local recoveries = math.max(0, nowUs - state.limitedAtUs) / (recoveryMs * 1000)
  local change = recoveries < 1 and state.limitedShare * backOff or growth
  return math.max(shareMin, math.min(state.limitedShare + change * (recoveries - 1) ^ 3, 1))
end
