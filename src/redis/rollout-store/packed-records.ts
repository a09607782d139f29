import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { endStates, isFailed, type UpgradeState } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { recordJson } from '../schema/stored-upgrade.ts';
import { BrokenRecordError, type BrokenRecords } from '../schema/unreadable-records.ts';
import { packRecordsScript, planPlacesScript, unpackRecordsScript } from './scripts.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** So many neighbours of the plan are packed together: reading one of them costs 3 ms. */
const recordsPerPack = 500;

// Of the 250 KB of 500 records, 15 KB are left, in 30 ms.
const quality = 5;

// Far more than 500 records ever have; what is larger was not written by us.
const packBytesMax = 32 * 1024 * 1024;

/** Beside the packs, by their numbers: how many there are once nothing is left to pack. */
export const packsDone = 'done';

/**
 * The texts of records, in this order; null for one that is not there. Those of an ended rollout may be packed, which
 * nobody who reads them sees. @throws BrokenRecordError for an unreadable pack, where nobody takes the report
 */
export async function readRecords(
  commands: RedisCommands,
  keys: RolloutKeys,
  collectorIds: readonly string[],
  broken?: BrokenRecords,
): Promise<ReadonlyArray<string | null>> {
  if (collectorIds.length === 0) return [];
  const texts = await commands.hmget(keys.records, ...collectorIds);
  const missing = collectorIds.filter((_id, index) => typeof texts[index] !== 'string');
  if (missing.length === 0) return texts;
  const packed = await readPacked(commands, keys, missing, broken);
  const found = collectorIds.map((id, index) => texts[index] ?? packed.get(id) ?? null);
  const stillMissing = missing.filter((id) => !packed.has(id));
  if (packed.size === 0 || stillMissing.length === 0) return found;
  // Read in two steps: the rollout may have been opened again in between, and its records unpacked.
  const again = await commands.hmget(keys.records, ...stillMissing);
  const late = new Map(stillMissing.map((id, index) => [id, again[index] ?? null]));
  return collectorIds.map((id, index) => found[index] ?? late.get(id) ?? null);
}

async function readPacked(
  commands: RedisCommands,
  keys: RolloutKeys,
  collectorIds: readonly string[],
  broken: BrokenRecords | undefined,
): Promise<ReadonlyMap<string, string>> {
  if ((await commands.exists(keys.packed)) === 0) return new Map();
  const places = await runScript(commands, planPlacesScript, { keys, args: { collectors: collectorIds } });
  const packs = new Set(places.flatMap((place) => (place < 0 ? [] : [Math.floor(place / recordsPerPack)])));
  const wanted = new Set(collectorIds);
  const found = new Map<string, string>();
  for (const pack of packs) {
    const body = await commands.hget(keys.packed, String(pack));
    if (body === null || body === '') continue;
    const records = await openReportedPack(body, `pack ${pack} of records in ${keys.packed}`, broken);
    for (const [id, text] of records) if (wanted.has(id)) found.set(id, text);
  }
  return found;
}

/** An unreadable one is left out where somebody takes the report. @throws BrokenRecordError where nobody is */
async function openReportedPack(body: string, what: string, broken: BrokenRecords | undefined) {
  try {
    return await openPack(body, what);
  } catch (error) {
    if (broken === undefined) throw error;
    const read = broken.read((): ReadonlyMap<string, string> => {
      throw error;
    });
    return read ?? new Map<string, string>();
  }
}

/** A pack as it is kept: texts of JSON, which has no line breaks of its own, one a line. */
async function closePack(records: ReadonlyMap<string, string>): Promise<string> {
  if (records.size === 0) return '';
  const lines = [...records].map(([id, text]) => `${id} ${text}`).join('\n');
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  return (await compress(lines, { params })).toString('base64');
}

/** The records of a pack by their collectors. @throws BrokenRecordError */
async function openPack(body: string, what: string): Promise<ReadonlyMap<string, string>> {
  if (body === '') return new Map();
  try {
    const bytes = await decompress(Buffer.from(body, 'base64'), { maxOutputLength: packBytesMax });
    return new Map(
      bytes
        .toString('utf8')
        .split('\n')
        .map((line) => {
          const space = line.indexOf(' ');
          return [line.slice(0, space), line.slice(space + 1)] as const;
        }),
    );
  } catch (error) {
    throw new BrokenRecordError(what, error);
  }
}

/** Nothing changes these in a rollout that is over; failed ones may be given another turn, and stay as they are. */
const packedStates: ReadonlySet<UpgradeState> = new Set(endStates.filter((state) => !isFailed(state)));

// Smaller plans are not worth it.
const packedPlanMin = 100;

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
  return putPack(commands, keys, { field: packsDone, body: String(packs), records: new Map() });
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
  return putPack(commands, keys, { field: String(pack), body: await closePack(records), records });
}

function putPack(
  commands: RedisCommands,
  keys: RolloutKeys,
  of: { readonly field: string; readonly body: string; readonly records: ReadonlyMap<string, string> },
): Promise<boolean> {
  const { field: pack, body, records } = of;
  const sha1s = [...records].map(([id, text]) => ({
    id,
    sha1: createHash('sha1').update(text).digest('hex'),
  }));
  return runScript(commands, packRecordsScript, { keys, args: { pack, body, of: sha1s } });
}

/** Puts back all records of a rollout that is about to be open again; safe to repeat. @throws BrokenRecordError */
export async function unpackRecords(commands: RedisCommands, keys: RolloutKeys): Promise<void> {
  // First of all it says no longer that nothing is left to pack.
  await commands.hdel(keys.packed, packsDone);
  for (const pack of await commands.hkeys(keys.packed)) {
    const body = await commands.hget(keys.packed, pack);
    if (body === null) continue;
    const records = await openPack(body, `pack ${pack} in ${keys.packed}`);
    const texts = [...records].map(([id, text]) => ({ id, text }));
    await runScript(commands, unpackRecordsScript, { keys, args: { pack, of: texts } });
  }
}

/** An unreadable one stays where it is seen. A text with a line break would not come out as it went in. */
function isPackable(text: string): boolean {
  if (text.includes('\n')) return false;
  try {
    const record: { readonly progress?: { readonly state?: unknown } } | null = JSON.parse(recordJson(text));
    return (packedStates as ReadonlySet<unknown>).has(record?.progress?.state);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
