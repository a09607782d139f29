import { createHash } from 'node:crypto';
import type { UpgradeState } from '../rollout/upgrade.ts';
import type { RedisCommands } from './connection.ts';
import { closePack, openPack, packsDone, recordsPerPack } from './packed-records.ts';
import type { RolloutKeys } from './rollout-keys.ts';
import { makeScript, runScript } from './script.ts';

/** Nothing changes these in a rollout that is over; failed ones may be given another turn, and stay as they are. */
const packedStates: ReadonlySet<UpgradeState> = new Set(['succeeded', 'withdrawn', 'rolledBack']);

// Smaller plans are not worth it.
const packedPlanMin = 100;

/**
 * Puts one pack in the place of its records, all of them or none; not when the rollout is open again, when one of them
 * has changed since it was read, or when the pack is there. KEYS: rollout, records, packed. ARGV: the pack's number, its
 * body, then collectors and the SHA-1 of their records in turn. Answers 1 when it was done.
 */
const packScript = makeScript(`
if redis.call('HGET', KEYS[1], 'ended') ~= '1' then return 0 end
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 0 end
for at = 3, #ARGV, 2 do
  local current = redis.call('HGET', KEYS[2], ARGV[at])
  if not current or redis.sha1hex(current) ~= ARGV[at + 1] then return 0 end
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
for at = 3, #ARGV, 2 do redis.call('HDEL', KEYS[2], ARGV[at]) end
local leftMs = redis.call('PTTL', KEYS[1])
if leftMs > 0 then redis.call('PEXPIRE', KEYS[3], leftMs) end
return 1
`);

/**
 * Puts the records of one pack back, and takes the pack away. KEYS: records, packed, rollout. ARGV: the pack's number, then
 * collectors and their records in turn.
 */
const unpackScript = makeScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return 0 end
for at = 2, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('HDEL', KEYS[2], ARGV[1])
local leftMs = redis.call('PTTL', KEYS[3])
if leftMs > 0 then redis.call('PEXPIRE', KEYS[1], leftMs) end
return 1
`);

/**
 * Packs the records of a rollout that is over, a few hundred of the plan's order at a time, so that it may be cut off
 * anywhere and go on later. @returns whether nothing is left to pack
 */
export async function packRecords(
  commands: RedisCommands,
  keys: RolloutKeys,
  signal: AbortSignal,
): Promise<boolean> {
  const planned = await commands.zcard(keys.order);
  const there = new Set(await commands.hkeys(keys.packed));
  if (there.has(packsDone)) return true;
  const packs = planned < packedPlanMin ? 0 : Math.ceil(planned / recordsPerPack);
  for (let pack = 0; pack < packs; pack += 1) {
    if (signal.aborted) return false;
    if (there.has(String(pack))) continue;
    if (!(await packOne(commands, keys, pack))) return false;
  }
  // With no texts to look at it is only noted, and with the same life as the packs.
  return (await putPack(commands, keys, { field: packsDone, body: String(packs), records: new Map() })) === 1;
}

async function packOne(commands: RedisCommands, keys: RolloutKeys, pack: number): Promise<boolean> {
  const from = pack * recordsPerPack;
  const ids = await commands.zrange(keys.order, String(from), String(from + recordsPerPack - 1));
  const texts = ids.length === 0 ? [] : await commands.hmget(keys.records, ...ids);
  const records = new Map<string, string>();
  for (const [index, id] of ids.entries()) {
    const text = texts[index];
    if (typeof text === 'string' && isPackable(text)) records.set(id, text);
  }
  return (
    (await putPack(commands, keys, { field: String(pack), body: await closePack(records), records })) === 1
  );
}

async function putPack(
  commands: RedisCommands,
  keys: RolloutKeys,
  of: { readonly field: string; readonly body: string; readonly records: ReadonlyMap<string, string> },
): Promise<number> {
  const sha1s = [...of.records].flatMap(([id, text]) => [id, createHash('sha1').update(text).digest('hex')]);
  const call = {
    keys: [keys.rollout, keys.records, keys.packed],
    args: [of.field, of.body, ...sha1s],
  };
  return Number(await runScript(commands, packScript, call));
}

/** Puts back all records of a rollout that is about to be open again; safe to repeat. @throws BrokenRecordError */
export async function unpackRecords(commands: RedisCommands, keys: RolloutKeys): Promise<void> {
  // First of all it says no longer that nothing is left to pack.
  await commands.hdel(keys.packed, packsDone);
  for (const pack of await commands.hkeys(keys.packed)) {
    const body = await commands.hget(keys.packed, pack);
    if (body === null) continue;
    const records = await openPack(body, `pack ${pack} in ${keys.packed}`);
    await runScript(commands, unpackScript, {
      keys: [keys.records, keys.packed, keys.rollout],
      args: [pack, ...[...records].flat()],
    });
  }
}

/** One that can't be read stays where it is seen. A text with a line break would not come out as it went in. */
function isPackable(text: string): boolean {
  if (text.includes('\n')) return false;
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record !== 'object' || record === null || !('state' in record)) return false;
    return (packedStates as ReadonlySet<unknown>).has(record.state);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
