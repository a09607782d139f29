-- Removes members of the retries that do not fit their record: it names another lane, or is no longer retrying.
--
-- Keys: records, retries.
-- Arguments: members, each `{ id, lane }`, both as texts.
-- Returns: 1. Members whose record is unreadable stay.

--@include record

for _, member in ipairs(members) do
  local kept = redis.call('HGET', recordsKey, member.id)
  local _, json = openRecord(kept or '')
  local isRead, record = pcall(cjson.decode, json or '{}')
  if isRead and type(record) == 'table' then
    local progress, identity = record.progress or {}, record.identity or {}
    local lane = identity.lane and string.format('%.0f', identity.lane)
    if progress.state ~= 'retrying' or lane ~= member.lane then
      redis.call('ZREM', retriesKey, member.id .. ':' .. member.lane)
    end
  end
end
return 1
