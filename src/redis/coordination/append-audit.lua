-- Appends an entry to the audit once, even if it is sent twice.
--
-- Keys: audit, a stream; mark, of this entry.
-- Arguments: entry, as JSON; entriesMax; markKeptMs.

if redis.call('EXISTS', markKey) == 0 then
  redis.call('XADD', auditKey, 'MAXLEN', '~', entriesMax, '*', 'entry', entry)
  redis.call('SET', markKey, '1', 'PX', markKeptMs)
end
return 1
