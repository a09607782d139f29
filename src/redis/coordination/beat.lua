-- Notes that a daemon lives, and shows all daemons that live with the generations of their configs. A config that is new
-- to Redis gets the next generation. Instants are of Redis's clock, since those of daemons differ.
--
-- Keys: daemons, a hash of `<instant> <body>` by daemon; generations, a sorted set of configs by generation.
-- Arguments: daemon; body, what it says of itself as JSON, `{ configs: [{ policy, hash }], … }`; livesMs, after which a
-- silent daemon is taken for gone; generationsMax, how many configs are kept; renewed, the configs that get a new
-- generation, each `<policy>\n<hash>`.
-- Returns: a list of JSON texts, each the body of a living daemon with `daemon`, `beatAt` and each config's
-- `generation`.

--@include ../connection/redis-now

local now = redisNow()

local function nextGeneration(config)
  local newest = redis.call('ZREVRANGE', generationsKey, 0, 0, 'WITHSCORES')
  local generation = (tonumber(newest[2]) or 0) + 1
  redis.call('ZADD', generationsKey, generation, config)
  return generation
end

local function generationOf(config)
  local score = redis.call('ZSCORE', generationsKey, config)
  return score and tonumber(score) or nextGeneration(config)
end

for _, config in ipairs(renewed) do
  nextGeneration(config)
end
redis.call('HSET', daemonsKey, daemon, string.format('%.0f', now) .. ' ' .. body)
redis.call('PEXPIRE', daemonsKey, livesMs)

local living = {}
local entries = redis.call('HGETALL', daemonsKey)
for at = 1, #entries, 2 do
  local beatAt, text = string.match(entries[at + 1], '^(%d+) (.*)$')
  local isRead, beat = pcall(cjson.decode, text or '')
  if not beatAt or not isRead or now - tonumber(beatAt) > livesMs then
    redis.call('HDEL', daemonsKey, entries[at])
  else
    for _, config in ipairs(beat.configs) do
      config.generation = generationOf(config.policy .. '\n' .. config.hash)
    end
    beat.daemon = entries[at]
    beat.beatAt = tonumber(beatAt)
    living[#living + 1] = cjson.encode(beat)
  end
end
redis.call('ZREMRANGEBYRANK', generationsKey, 0, -1 - generationsMax)
return living
