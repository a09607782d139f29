import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { FrozenPlan, SaveResult } from '../../orchestrator/ports/rollout-store.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { makeScript, runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { assertPlaces, orderScoreOf } from '../schema/plan-place.ts';
import {
  joinersKey,
  parseRolloutId,
  policyKeys,
  recordKeyList,
  rolloutKeys,
} from '../schema/rollout-keys.ts';
import { plannedFields, type WriteMark } from '../schema/stored-rollout.ts';
import { encodeUpgrade } from '../schema/stored-upgrade.ts';
import { appendEventLua, expireTogetherLua, fenceLua, recordLua } from './lua-parts.ts';
import { recordsPerChunk, stagedForMs } from './stage-plan.ts';
import { countNew } from './upgrade-counters.ts';
import { encodeCounts, indexOf } from './upgrade-index.ts';

/** Adds late joiners to a rollout: laid ready in chunks, taken up in one step. */
export async function joinPlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  joining: FrozenPlan,
  save: { readonly expectedRev: number; readonly fence: Fence | null; readonly mark: WriteMark },
): Promise<SaveResult> {
  const { commands, keyPrefix } = redis;
  const { rollout, upgrades, groups, events } = joining;
  const { expectedRev, fence, mark } = save;
  assertPlaces(upgrades);
  const staging = joinersKey(keyPrefix, rollout.id, mark.write);
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const args = chunk.flatMap((upgrade) => encodeJoiner(upgrade, mark));
    await runScript(commands, stageJoinersScript, { keys: [staging], args: [stagedForMs, ...args] });
  }
  const keys = rolloutKeys(keyPrefix, rollout.id);
  const { fence: fenceKey } = policyKeys(keyPrefix, parseRolloutId(rollout.id).policy);
  const call = {
    write: mark.write,
    expectedRev,
    rev: rollout.rev,
    fields: plannedFields(rollout, groups, mark),
    records: upgrades.length,
    ...(fence === null ? {} : { fence }),
  };
  const answer = await runScript(commands, joinScript, {
    keys: [keys.rollout, keys.events, fenceKey, keys.groups, staging, ...recordKeyList(keys)],
    args: [
      JSON.stringify(call),
      JSON.stringify(rollout),
      JSON.stringify(groups),
      ...events.map((event) => JSON.stringify(event)),
    ],
  });
  if (answer === 'lost')
    throw new Error(`the staged joiners of rollout ${rollout.id} ran out before they were used`);
  await commands.del(staging);
  return answer as SaveResult;
}

/** Two lines, since JSON has no line break of its own: what to sort and count, and the record. */
function encodeJoiner(upgrade: Upgrade, { write, version }: WriteMark): readonly string[] {
  const index = {
    order: String(orderScoreOf(upgrade)),
    counts: encodeCounts(countNew(upgrade)),
    ...indexOf(upgrade),
  };
  const record = `${encodeUpgrade(upgrade, version)},"write":"${write}"}`;
  return [String(upgrade.identity.collectorId), `${JSON.stringify(index)}\n${record}`];
}

/**
 * Lays late joiners ready; what is never taken up expires.
 * KEYS: the staging hash. ARGV[1]: its life in ms; then ids in turn with their index and record, two lines of one text.
 */
const stageJoinersScript = makeScript(`
for at = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return #ARGV
`);

/**
 * Takes up the joiners that have no record yet, with the rollout and the groups that know them.
 *
 * KEYS: rollout, events, fence, groups, the staging hash, then the eight record keys.
 * ARGV[1]: `{ write, expectedRev, rev, fields, records, fence? }`; ARGV[2]: the rollout; ARGV[3]: its groups; then its
 * events. Answers `saved`, `stale`, or `lost` when the staged records have run out.
 */
const joinScript = makeScript(`
${appendEventLua}
${fenceLua}
${recordLua}
${expireTogetherLua}
local call = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'rev', 'json', 'groupsMark')
if not stored[1] then return 'stale' end
local rev = tonumber(stored[1])
-- By its own mark, or by what it wrote: the caller may try again after a lost connection.
if stored[3] == call.write then return 'saved' end
if rev == call.rev and stored[2] == ARGV[2] and redis.call('GET', KEYS[4]) == ARGV[3] then return 'saved' end
if call.fence ~= nil and isFenced(KEYS[3], call.fence) then return 'stale' end
if rev ~= call.expectedRev then return 'stale' end
if redis.call('HLEN', KEYS[5]) ~= call.records then return 'lost' end
local sets = { pending = KEYS[9], due = KEYS[10], retries = KEYS[11], intents = KEYS[12], missed = KEYS[13] }
local staged = redis.call('HGETALL', KEYS[5])
for at = 1, #staged, 2 do
  local id, text = staged[at], staged[at + 1]
  local line = string.find(text, '\\n', 1, true)
  if redis.call('HSETNX', KEYS[6], id, string.sub(text, line + 1)) == 1 then
    local index = cjson.decode(string.sub(text, 1, line - 1))
    redis.call('ZADD', KEYS[8], index.order, id)
    placeAll(index, id, sets)
    for count = 1, #index.counts, 2 do addTo(KEYS[7], index.counts[count], index.counts[count + 1]) end
  end
end
redis.call('DEL', KEYS[5])
redis.call('HSET', KEYS[1], 'json', ARGV[2], unpack(call.fields))
redis.call('SET', KEYS[4], ARGV[3])
for event = 4, #ARGV do appendEvent(KEYS[2], ARGV[event]) end
expireTogether(KEYS[6], 4, 13)
return 'saved'
`);
