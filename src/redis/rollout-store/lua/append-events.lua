-- Appends events to the stream of a rollout.

-- Enough for every upgrade of a large rollout's last hours. The log has all events.
local eventsKeptMax = 10000

-- A rollout has a few dozen. A gate that changes every minute takes days to drop its plan.
local milestonesKeptMax = 5000

-- Each event is a JSON text.
local function appendEvents(stream, newEvents)
  for _, event in ipairs(newEvents) do
    redis.call('XADD', stream, 'MAXLEN', '~', eventsKeptMax, '*', 'event', event)
  end
end

-- The same for events of the rollout itself. Their copies remain when many events of upgrades follow.
local function appendMilestones(stream, copies, newEvents)
  for _, event in ipairs(newEvents) do
    local id = redis.call('XADD', stream, 'MAXLEN', '~', eventsKeptMax, '*', 'event', event)
    redis.call('XADD', copies, 'MAXLEN', '~', milestonesKeptMax, id, 'event', event)
  end
end
