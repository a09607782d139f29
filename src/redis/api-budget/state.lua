-- The state of an API budget, included by scripts with the key `state`.
--
-- A hash. Instants are microseconds of Redis's clock: at 400 requests a second a slot is 2,500 µs.
--   nextUs                 the next free slot
--   slots                  how many slots were given
--   pausedUntilUs          the end of the last pause
--   pausedAtUs, pausedFor  when that pause began, and its kind: rate, single or down
--   single                 '1' while one request at a time may sign in
--   down, downAtUs         why the service is down, and since when; one request at a time tests it
--   growthMs               the length of the last pause
--   limitedShare           the share of the rate in use when the last 429 that lowered it came, from 0 to 1
--   limitedAtUs            when that was
--   backOff, recoveryMs    the part of limitedShare that it took, and after how long the rate is back there
--   lowHits                429s in a row that came at a low share
--   strayUntilUs           until when few 429s do not lower the rate
--   granted, refused       slots and 429s by the minute, each `window count before`: the number of the window, its count,
--                          and the count of the window before it
--   limited                429s by the hour, in the same way

-- The longest pause. A longer one is an outage, which the next refusal reports again.
local pauseMaxUs = 3600 * 1000000
-- When the clock is set back by less than this, a pause is longer by this time.
local clockSlackUs = 1000000
-- A week without requests outlasts every pause, permit and margin.
local keptMs = 7 * 24 * 3600000

-- The increase of the share in the second recovery time after a 429: 0.2 of the whole rate.
local growth = 0.2
-- Below this rate no upgrade would end in time. Then growing pauses protect the service.
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
    'limitedShare', 'limitedAtUs', 'slots', 'backOff', 'recoveryMs', 'lowHits', 'strayUntilUs')
  local pausedUntilUs = tonumber(fields[2] or '0')
  local pausedAtUs = tonumber(fields[3] or '0')
  local down = fields[5] or ''
  -- No pause is longer or begins in the future, so the clock was set back.
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
    slots = tonumber(fields[9] or '0'),
    backOff = tonumber(fields[10] or '0'),
    recoveryMs = tonumber(fields[11] or '1'),
    lowHits = tonumber(fields[12] or '0'),
    strayUntilUs = tonumber(fields[13] or '0'),
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

-- The count over a window that ends now: the previous window counts with the share of it that still lies in this one.
local function slidingCount(field, windowUs)
  local count, before = countedIn(field, windowUs)
  return count + before * (1 - (nowUs % windowUs) / windowUs)
end

-- The share of the rate that may be used now. After a 429 it follows the curve of CUBIC (RFC 9438): it grows quickly towards
-- the share that met the 429, slowly around it, then ever faster. Little is lost where the limit remains, and the whole rate
-- is soon back where it does not.
local function shareNow(state)
  local recoveries = math.max(0, nowUs - state.limitedAtUs) / (state.recoveryMs * 1000)
  local change = recoveries < 1 and state.limitedShare * state.backOff or growth
  return math.max(shareMin, math.min(state.limitedShare + change * (recoveries - 1) ^ 3, 1))
end
