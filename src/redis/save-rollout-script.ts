import { appendEventLua, fenceLua } from './lua-parts.ts';
import { makeScript } from './script.ts';

/**
 * Saves a rollout, its brake, its events and its end.
 *
 * KEYS: rollout, events, fence, active, then the seven record keys.
 * ARGV[1]: `{ id, write, expectedRev, rev, state, brake: 'set' | 'lift' | 'keep', ended, keepMs, fence? }`;
 * ARGV[2]: the rollout; then its events. Answers `saved` or `stale`.
 */
export const saveRolloutScript = makeScript(`
${appendEventLua}
${fenceLua}
local call = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'rev', 'write', 'json')
if not stored[1] then return 'stale' end
local rev = tonumber(stored[1])
if stored[2] == call.write or (rev == call.rev and stored[3] == ARGV[2]) then return 'saved' end
if call.fence ~= nil and isFenced(KEYS[3], call.fence) then return 'stale' end
if rev ~= call.expectedRev then return 'stale' end
redis.call('HSET', KEYS[1], 'json', ARGV[2], 'state', call.state, 'rev', string.format('%.0f', call.rev),
  'write', call.write)
if call.brake == 'set' then redis.call('HSET', KEYS[1], 'brake', '1') end
if call.brake == 'lift' then redis.call('HSET', KEYS[1], 'brake', '0') end
for event = 3, #ARGV do appendEvent(KEYS[2], ARGV[event]) end
if call.ended then
  if redis.call('GET', KEYS[4]) == call.id then redis.call('DEL', KEYS[4]) end
  local keepMs = string.format('%.0f', call.keepMs)
  for _, key in ipairs({ KEYS[1], KEYS[2], unpack(KEYS, 5) }) do redis.call('PEXPIRE', key, keepMs) end
end
return 'saved'
`);
