-- Appends events to the stream of a rollout.

-- Enough for every upgrade of a large rollout's last hours. The log has all events.
local eventsKeptMax = 10000

-- Each event is a JSON text.
local function appendEvents(stream, newEvents)
  for _, event in ipairs(newEvents) do
    redis.call('XADD', stream, 'MAXLEN', '~', eventsKeptMax, '*', 'event', event)
  end
end
