import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { BrokenRecordError } from './broken-record.ts';
import type { BrokenRecords } from './broken-records.ts';
import type { RedisCommands } from './connection.ts';
import type { RolloutKeys } from './rollout-keys.ts';
import { makeScript, runScript } from './script.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** So many neighbours of the plan are packed together: reading one of them costs 3 ms. */
export const recordsPerPack = 500;

// Of the 250 KB of 500 records, 15 KB are left, in 30 ms.
const quality = 5;

// Far more than 500 records ever have; what is larger was not written by us.
const packBytesMax = 32 * 1024 * 1024;

/** Beside the packs, by their numbers: how many there are once nothing is left to pack. */
export const packsDone = 'done';

/** The places of collectors in their plan; -1: it has no such. KEYS: order. ARGV: collectors. */
const placesScript = makeScript(`
local places = {}
for at = 1, #ARGV do places[at] = redis.call('ZRANK', KEYS[1], ARGV[at]) or -1 end
return places
`);

/**
 * The texts of records, in this order; null for one that is not there. Those of an ended rollout may be packed, which
 * nobody who reads them sees. @throws BrokenRecordError for a pack that can't be read, where nobody is told of it
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
  const call = { keys: [keys.order], args: collectorIds };
  const places = (await runScript(commands, placesScript, call)) as readonly number[];
  const packs = new Set(places.flatMap((place) => (place < 0 ? [] : [Math.floor(place / recordsPerPack)])));
  const wanted = new Set(collectorIds);
  const found = new Map<string, string>();
  for (const pack of packs) {
    const body = await commands.hget(keys.packed, String(pack));
    if (body === null || body === '') continue;
    const records = await openToldPack(body, `pack ${pack} of records in ${keys.packed}`, broken);
    for (const [id, text] of records) if (wanted.has(id)) found.set(id, text);
  }
  return found;
}

/** One that can't be read is left out where somebody is told of it. @throws BrokenRecordError where nobody is */
async function openToldPack(body: string, what: string, broken: BrokenRecords | undefined) {
  try {
    return await openPack(body, what);
  } catch (error) {
    if (broken === undefined) throw error;
    const told = broken.read((): ReadonlyMap<string, string> => {
      throw error;
    });
    return told ?? new Map<string, string>();
  }
}

/** A pack as it is kept: texts of JSON, which has no line breaks of its own, one a line; readable as text by a backup. */
export async function closePack(records: ReadonlyMap<string, string>): Promise<string> {
  if (records.size === 0) return '';
  const lines = [...records].map(([id, text]) => `${id} ${text}`).join('\n');
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  return (await compress(lines, { params })).toString('base64');
}

/** The records of a pack by their collectors. @throws BrokenRecordError */
export async function openPack(body: string, what: string): Promise<ReadonlyMap<string, string>> {
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
