// Enough for every upgrade of a large rollout's last hours; the log has all of them.
const eventsKeptMax = 10_000;

/** Appends events as JSON texts; `KEYS` and `ARGV` positions are the caller's. */
export const appendEventLua = `
local function appendEvent(stream, event)
  redis.call('XADD', stream, 'MAXLEN', '~', ${eventsKeptMax}, '*', 'event', event)
end
`;

/** Refuses writes of a leader that was followed by another one; remembers the newest. */
export const fenceLua = `
local function isFenced(key, fence)
  local seen = tonumber(redis.call('GET', key) or '0')
  if fence > seen then redis.call('SET', key, string.format('%.0f', fence)) end
  return fence < seen
end
`;
