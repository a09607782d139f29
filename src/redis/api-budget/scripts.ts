import type { DurationMs } from '../../base/time.ts';
import { makeScript } from '../connection/commands.ts';

/** The longest pause, whatever a service asks for: an hour of waiting is an outage, which the next refusal tells again. */
const pauseMaxMs: DurationMs = 3_600_000;

/** A clock that is set back by less than this only makes a pause that much longer. */
const clockSlackMs: DurationMs = 1_000;

/** A budget that nobody asked for so long has nothing left to tell: longer than any pause, permit or margin lasts. */
const keptMs: DurationMs = 7 * 24 * 3_600_000;

/**
 * State of a budget, a hash. Instants are microseconds of Redis's clock: at 400 requests a second a slot is 2,500 µs.
 *
 * nextUs: the next free slot · pausedUntilUs, pausedAtUs, pausedFor: until when, when that was said, and of which kind
 * the pause is · single: '1' while one request at a time may try to sign in · down, downAtUs: why the service is taken
 * for down, and since when; while it is, too, one request at a time tries · growthMs: the last pause · extra, extraAtUs:
 * what 429s have added to the margin, and when; it halves with time · granted, limited: slots by the minute and 429s by
 * the hour, each `window count before`: of this window, and of the one before it.
 */
const stateLua = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local pauseMaxUs = ${pauseMaxMs} * 1000
local function keep(key) redis.call('PEXPIRE', key, ${keptMs}) end
local function whole(number) return string.format('%.0f', number) end
local function read()
  local s = redis.call('HMGET', KEYS[1], 'nextUs', 'pausedUntilUs', 'single', 'growthMs', 'extra', 'extraAtUs', 'down',
    'pausedAtUs')
  local down = s[7] or ''
  local pausedUntilUs = tonumber(s[2] or '0')
  -- No pause is longer than that, and none was asked for in the time to come: the clock was set back.
  local isAhead = tonumber(s[8] or '0') - now > ${clockSlackMs} * 1000
  if isAhead or pausedUntilUs - now > pauseMaxUs then pausedUntilUs = 0 end
  return {
    nextUs = tonumber(s[1] or '0'), pausedUntilUs = pausedUntilUs, isSingle = s[3] == '1' or down ~= '', down = down,
    growthMs = tonumber(s[4] or '0'), extra = tonumber(s[5] or '0'), extraAtUs = tonumber(s[6] or '0')
  }
end
local minuteUs, hourUs = 60 * 1000000, 3600 * 1000000
local function counted(field, windowUs)
  local window, count, before = string.match(redis.call('HGET', KEYS[1], field) or '', '^(%d+) (%d+) (%d+)$')
  local passed = math.floor(now / windowUs) - (tonumber(window) or -1)
  if passed == 0 then return tonumber(count), tonumber(before) end
  return 0, passed == 1 and tonumber(count) or 0
end
local function withMore(field, windowUs, more)
  local count, before = counted(field, windowUs)
  return string.format('%.0f %.0f %.0f', math.floor(now / windowUs), count + more, before)
end
-- Over a window that ends now: as much of the one before as still reaches into it.
local function sliding(field, windowUs)
  local count, before = counted(field, windowUs)
  return count + before * (1 - (now % windowUs) / windowUs)
end
local function extraNow(state, halfLifeMs)
  return state.extra * 2 ^ (-math.max(0, now - state.extraAtUs) / (halfLifeMs * 1000))
end
`;

/**
 * Takes permits and slots for the requests that wait in one daemon: the permit first, then the next slot, and only a
 * slot that is near, so that nobody holds what he can't use soon: slots taken early leave in bursts after a stall.
 *
 * KEYS: state, permits. ARGV[1]: `{ spacingUs, marginShare, missedMaxUs, horizonUs, moreHorizonUs, slackUs, slackMaxUs,
 * halfLifeMs, permits, permitLifeMs, given }`; then `given` permits that come back, then the permits wanted. `slackUs`:
 * so much later than their instants all slots of this answer may be used; the next one of anybody comes after that.
 * Answers now, `granted` | `full` | `far` | `paused`, how long to wait in µs, '1' when a success would change
 * something, why the service is down (empty: it is not), and the slots in µs, one for each of the first permits.
 *
 * Sent twice, it may waste a slot that nobody uses, and never gives one slot to two.
 */
export const reserveScript = makeScript(`
${stateLua}
local ask = cjson.decode(ARGV[1])
for at = 2, 1 + ask.given do redis.call('ZREM', KEYS[2], ARGV[at]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. whole(now / 1000))
local state = read()
local reportSuccess = (state.isSingle or state.growthMs > 0) and '1' or '0'
if state.pausedUntilUs > now then
  return { whole(now), 'paused', whole(state.pausedUntilUs - now), reportSuccess, state.down }
end
local free = (state.isSingle and 1 or ask.permits) - redis.call('ZCARD', KEYS[2])
if free <= 0 then return { whole(now), 'full', '0', reportSuccess, state.down } end

local spacing = ask.spacingUs * (1 + ask.marginShare + extraNow(state, ask.halfLifeMs))
local slot = state.nextUs
-- Nobody reserves further ahead than this: the clock was set back.
if slot - now > ask.horizonUs + ask.moreHorizonUs + ask.slackMaxUs + 4 * spacing then slot = now + spacing end
-- A slot missed by little may still be used; what was missed by more is gone, or it would leave in a burst.
slot = math.max(slot, now - ask.missedMaxUs)
local answer = { whole(now), 'granted', '0', reportSuccess, state.down }
local headSize = #answer
for at = 2 + ask.given, math.min(#ARGV, 1 + ask.given + free) do
  local horizon = #answer == headSize and ask.horizonUs or ask.moreHorizonUs
  if slot - now > horizon then break end
  redis.call('ZADD', KEYS[2], whole(now / 1000 + ask.permitLifeMs), ARGV[at])
  answer[#answer + 1] = whole(slot)
  slot = slot + spacing
end
if #answer == headSize then return { whole(now), 'far', whole(slot - now), reportSuccess, state.down } end
redis.call('HSET', KEYS[1], 'nextUs', whole(slot + ask.slackUs), 'granted', withMore('granted', minuteUs, #answer - headSize))
keep(KEYS[1])
keep(KEYS[2])
return answer
`);

/**
 * Pauses all. While a pause lasts, another one only makes it longer: ten requests refused at once are one refusal.
 *
 * KEYS: state. ARGV[1]: `{ forMs, kind, reason, firstMs, maxMs, extraStep, extraMax, halfLifeMs }`. `kind`: `rate`,
 * `single` for a throttled sign-in, or `down` with its reason.
 * Answers how long the pause lasts from now, in ms.
 */
export const pauseScript = makeScript(`
${stateLua}
local ask = cjson.decode(ARGV[1])
local state = read()
local untilUs = now + ask.forMs * 1000
if state.pausedUntilUs <= now then
  local growthMs = math.min(math.max(state.growthMs * 2, ask.firstMs), ask.maxMs)
  redis.call('HSET', KEYS[1], 'growthMs', whole(growthMs))
  untilUs = math.max(untilUs, now + growthMs * 1000)
  if ask.kind == 'rate' then
    local extra = math.min(extraNow(state, ask.halfLifeMs) + ask.extraStep, ask.extraMax)
    redis.call('HSET', KEYS[1], 'extra', string.format('%.6f', extra), 'extraAtUs', whole(now),
      'limited', withMore('limited', hourUs, 1))
  end
end
untilUs = math.min(untilUs, now + pauseMaxUs)
if untilUs > state.pausedUntilUs then
  redis.call('HSET', KEYS[1], 'pausedUntilUs', whole(untilUs), 'pausedAtUs', whole(now), 'pausedFor', ask.kind)
else
  untilUs = state.pausedUntilUs
end
if ask.kind == 'single' then redis.call('HSET', KEYS[1], 'single', '1') end
if ask.kind == 'down' then
  if state.down == '' then redis.call('HSET', KEYS[1], 'downAtUs', whole(now)) end
  redis.call('HSET', KEYS[1], 'down', ask.reason)
end
keep(KEYS[1])
return math.ceil((untilUs - now) / 1000)
`);

/**
 * The service answers normally. A success that comes in during a pause left before it, and proves nothing.
 * KEYS: state. Answers '1' unless it was too early to count.
 */
export const succeededScript = makeScript(`
${stateLua}
if read().pausedUntilUs > now then return '0' end
redis.call('HDEL', KEYS[1], 'single', 'growthMs', 'down', 'downAtUs')
return '1'
`);

/**
 * The service answers, if only to refuse; what it refused for stays as it is.
 * KEYS: state. Answers '1' unless it was too early to count.
 */
export const serviceUpScript = makeScript(`
${stateLua}
local state = read()
if state.pausedUntilUs > now then return '0' end
if state.down ~= '' then redis.call('HDEL', KEYS[1], 'growthMs', 'down', 'downAtUs') end
return '1'
`);

/**
 * How the budget stands, without changing it.
 *
 * KEYS: state. Answers requests a second over the last minute, 429s in the last hour, of which kind the standstill is
 * (`rate`, `single`, `down`; empty: none), how long the pause still lasts in ms, why the service is down, and for how
 * long it has been in ms (empty: it is not).
 */
export const standingScript = makeScript(`
${stateLua}
local state = read()
local extra = redis.call('HMGET', KEYS[1], 'pausedFor', 'downAtUs')
local isPaused = state.pausedUntilUs > now
local kind = ''
if state.down ~= '' then kind = 'down'
elseif isPaused then kind = extra[1] or 'rate'
elseif state.isSingle then kind = 'single' end
local downForMs = ''
if state.down ~= '' and extra[2] then downForMs = whole(math.max(0, now - tonumber(extra[2])) / 1000) end
return {
  string.format('%.3f', sliding('granted', minuteUs) / 60), whole(math.ceil(sliding('limited', hourUs))),
  kind, isPaused and whole(math.ceil((state.pausedUntilUs - now) / 1000)) or '0', state.down, downForMs
}
`);
