-- Appends an entry to the audit once, also when it is sent again.
--
-- Keys: audit, a stream; mark, of this entry.
-- Arguments: entry, as JSON; entriesMax; markKeptMs.

if redis.call('EXISTS', markKey) == 0 then
  redis.call('XADD', auditKey, 'MAXLEN', '~', entriesMax, '*', 'entry', entry)
  redis.call('SET', markKey, '1', 'PX', markKeptMs)
end
return 1
