-- Reads what a decision needs of a rollout, at one instant.
--
-- Keys: rollout, counters, pending, due, retries, groups.
-- Arguments: now; overdueBefore, an instant; pageSize, the maximum of overdue upgrades and of candidates per lane;
-- candidatesMax, candidates of all lanes; perLaneMin, candidates of a lane, whatever the number of lanes; knownMark, of the
-- groups that the caller has, which are not sent again; laneSpan, waveSpan and lanesMax, from which the score of a pending
-- collector is built.
-- Returns: nil without the rollout; else a list: its JSON; its rev; its brake; the counters, alternating names and values;
-- pending candidates, alternating ids and scores; due retries, alternating `<id>:<lane>` and instants; the instant of the
-- next retry, or ''; overdue collectors; the mark of the groups; the groups as JSON, or '' when the caller has them; the
-- version of its records; for how long its pace is used up.

--@include ../../connection/redis-now

-- Further lanes wait until one of these is empty. Two candidates of each are some 200 KB, and 20 ms of Redis's time.
local lanesPerWaveMax = 5000
-- Further due retries are read when these are gone. Only a rollout in which everything waits has so many.
local retriesReadMax = 10000

local json, rev, brake, frontier, lanes, groupsMark, version, concurrency = unpack(
  redis.call('HMGET', rolloutKey, 'json', 'rev', 'brake', 'frontier', 'lanes', 'groupsMark', 'v', 'concurrency')
)
if not rev then
  return false
end
local share = math.floor(candidatesMax / math.max(1, tonumber(lanes or '1')))
-- No pass starts more than there are free slots. A record of an earlier version does not show how many it has.
local slots = tonumber(concurrency or pageSize)
local free = slots - tonumber(redis.call('HGET', countersKey, 'slots') or '0')
local perLane = math.min(pageSize, math.max(perLaneMin, math.min(share, free)))

-- Pending collectors are sorted by wave, lane and position. The loop reads the beginning of a lane and skips to the next, up
-- to the frontier, the last wave that has started.
local function readPending()
  local found, taken = {}, {}
  local from, wave, lastLane, lanesSeen = '-inf', -1, -1, 0
  local beyond = string.format('(%.0f', (tonumber(frontier or '-1') + 1) * waveSpan)
  while true do
    local page = redis.call('ZRANGEBYSCORE', pendingKey, from, beyond, 'WITHSCORES', 'LIMIT', 0, perLane)
    if #page == 0 then
      return found
    end
    local leap = nil
    for at = 1, #page, 2 do
      local score = tonumber(page[at + 1])
      local itsWave = math.floor(score / waveSpan)
      local laneInWave = math.floor(score / laneSpan)
      local lane = laneInWave % lanesMax
      if itsWave ~= wave then
        wave, lanesSeen = itsWave, 0
      end
      if laneInWave ~= lastLane then
        lastLane, lanesSeen = laneInWave, lanesSeen + 1
      end
      if lanesSeen > lanesPerWaveMax then
        leap = (wave + 1) * waveSpan
        break
      end
      local count = taken[lane] or 0
      if count < perLane then
        found[#found + 1] = page[at]
        found[#found + 1] = page[at + 1]
        count = count + 1
        taken[lane] = count
      end
      if count >= perLane then
        leap = (laneInWave + 1) * laneSpan
        break
      end
    end
    from = leap and string.format('%.0f', leap) or '(' .. page[#page]
  end
end

local function readRetries()
  local due = redis.call('ZRANGEBYSCORE', retriesKey, '-inf', now, 'WITHSCORES', 'LIMIT', 0, retriesReadMax)
  local found, taken = {}, {}
  for at = 1, #due, 2 do
    local lane = string.match(due[at], '%d+$')
    local count = taken[lane] or 0
    if count < perLane then
      found[#found + 1] = due[at]
      found[#found + 1] = due[at + 1]
      taken[lane] = count + 1
    end
  end
  return found
end

local nextRetry = redis.call('ZRANGEBYSCORE', retriesKey, '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local overdue = redis.call('ZRANGEBYSCORE', dueKey, '-inf', '(' .. overdueBefore, 'LIMIT', 0, pageSize)
local mark = groupsMark or ''
local groups = ''
if mark ~= knownMark then
  groups = redis.call('GET', groupsKey) or ''
end
local pacedUntil = tonumber(redis.call('HGET', countersKey, 'pacedUntil') or '0')
return {
  json or '',
  rev,
  brake or '0',
  redis.call('HGETALL', countersKey),
  readPending(),
  readRetries(),
  nextRetry[2] or '',
  overdue,
  mark,
  groups,
  version or '1',
  math.max(0, pacedUntil - redisNow()),
}
