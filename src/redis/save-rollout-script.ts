import { appendEventLua, fenceLua } from './lua-parts.ts';
import { makeScript } from './script.ts';

/**
 * Saves a rollout, its brake, its events and its end. One that had ended and is saved without an end is active again,
 * unless the policy has another one by now.
 *
 * KEYS: rollout, events, fence, active, groups, then the eight record keys, packed.
 * ARGV[1]: `{ id, write, expectedRev, rev, fields, brake: 'set' | 'lift' | 'keep', ended, keepMs, fence? }`;
 * ARGV[2]: the rollout; then its events. Answers `saved`, `stale`, or
 * `packed`: its records have to be unpacked before it can be open again.
 */
export const saveRolloutScript = makeScript(`
${appendEventLua}
${fenceLua}
local call = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'rev', 'write', 'json', 'ended')
if not stored[1] then return 'stale' end
local rev = tonumber(stored[1])
if stored[2] == call.write or (rev == call.rev and stored[3] == ARGV[2]) then return 'saved' end
if call.fence ~= nil and isFenced(KEYS[3], call.fence) then return 'stale' end
if rev ~= call.expectedRev then return 'stale' end
local active = redis.call('GET', KEYS[4])
local isReopened = stored[4] == '1' and not call.ended
if isReopened and active and active ~= call.id then return 'stale' end
if isReopened and redis.call('EXISTS', KEYS[14]) == 1 then return 'packed' end
redis.call('HSET', KEYS[1], 'json', ARGV[2], 'ended', call.ended and '1' or '0', unpack(call.fields))
if call.brake == 'set' then redis.call('HSET', KEYS[1], 'brake', '1') end
if call.brake == 'lift' then redis.call('HSET', KEYS[1], 'brake', '0') end
for event = 3, #ARGV do appendEvent(KEYS[2], ARGV[event]) end
local kept = { KEYS[1], KEYS[2], unpack(KEYS, 5) }
if call.ended then
  if active == call.id then redis.call('DEL', KEYS[4]) end
  for _, key in ipairs(kept) do redis.call('PEXPIRE', key, call.keepMs) end
elseif isReopened then
  redis.call('SET', KEYS[4], call.id)
  for _, key in ipairs(kept) do redis.call('PERSIST', key) end
end
return 'saved'
`);
