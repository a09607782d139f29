import { createHash } from 'node:crypto';
import { endStates, isFailed, type UpgradeState } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { packText, unpackText } from '../schema/packed-text.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { recordJson } from '../schema/stored-upgrade.ts';
import { BrokenRecordError, type BrokenRecords } from '../schema/unreadable-records.ts';
import { packRecordsScript, planPlacesScript, unpackRecordsScript } from './scripts.ts';

/** Neighbours in the plan that are packed together: reading one of them costs 3 ms. */
const recordsPerPack = 500;

// Far more than 500 records have. A larger pack is not from upwave.
const packBytesMax = 32 * 1024 * 1024;

/**
 * The texts of records, in this order; null without a record. Records of an ended rollout may be packed, which is
 * transparent here.
 * @throws BrokenRecordError for an unreadable pack without `broken`
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
  const notFound = missing.filter((id) => !packed.has(id));
  if (packed.size === 0 || notFound.length === 0) return found;
  // The rollout may have been reopened between the reads, and its records unpacked.
  const again = await commands.hmget(keys.records, ...notFound);
  const late = new Map(notFound.map((id, index) => [id, again[index] ?? null]));
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
    if (body === null) continue;
    const records = await openReportedPack(body, `pack ${pack} of records in ${keys.packed}`, broken);
    for (const [id, text] of records) if (wanted.has(id)) found.set(id, text);
  }
  return found;
}

/** Opens a pack. An unreadable one is reported to `broken` and left out. @throws BrokenRecordError without `broken` */
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

/** Encodes a pack: one record a line, because JSON has no line breaks. */
function closePack(records: ReadonlyMap<string, string>): Promise<string> {
  return packText([...records].map(([id, text]) => `${id} ${text}`).join('\n'));
}

/** The records of a pack by their collectors. @throws BrokenRecordError */
async function openPack(body: string, what: string): Promise<ReadonlyMap<string, string>> {
  try {
    const lines = (await unpackText(body, packBytesMax)).split('\n');
    return new Map(
      lines.map((line) => {
        const space = line.indexOf(' ');
        return [line.slice(0, space), line.slice(space + 1)] as const;
      }),
    );
  } catch (error) {
    throw new BrokenRecordError(what, error);
  }
}

/** States that are final in an ended rollout. Failed upgrades may be retried, so they are not packed. */
const packedStates: ReadonlySet<UpgradeState> = new Set(endStates.filter((state) => !isFailed(state)));

// Smaller plans are not worth packing.
const packedPlanMin = 100;

/**
 * Packs the records of an ended rollout, a few hundred at a time in plan order. It can stop anywhere and continue later.
 * @returns true when nothing remains to pack
 */
export async function packRecords(
  commands: RedisCommands,
  keys: RolloutKeys,
  signal: AbortSignal,
): Promise<boolean> {
  const planned = await commands.zcard(keys.order);
  if (planned < packedPlanMin) return true;
  const existing = new Set(await commands.hkeys(keys.packed));
  for (let pack = 0; pack * recordsPerPack < planned; pack += 1) {
    if (existing.has(String(pack))) continue;
    if (signal.aborted || !(await packOne(commands, keys, pack))) return false;
  }
  return true;
}

/** @returns false if the rollout or one of the records has changed meanwhile */
async function packOne(commands: RedisCommands, keys: RolloutKeys, pack: number): Promise<boolean> {
  const from = pack * recordsPerPack;
  const ids = await commands.zrange(keys.order, String(from), String(from + recordsPerPack - 1));
  const texts = await commands.hmget(keys.records, ...ids);
  const records = new Map<string, string>();
  for (const [index, id] of ids.entries()) {
    const text = texts[index];
    if (typeof text === 'string' && isPackable(text)) records.set(id, text);
  }
  if (records.size === 0) return true;
  const body = await closePack(records);
  const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
  const digests = [...records].map(([id, text]) => ({ id, sha1: sha1(text) }));
  return runScript(commands, packRecordsScript, {
    keys,
    args: { pack: String(pack), body, records: digests },
  });
}

/** Unpacks all records of a rollout that is about to be reopened. Safe to repeat. @throws BrokenRecordError */
export async function unpackRecords(commands: RedisCommands, keys: RolloutKeys): Promise<void> {
  for (const pack of await commands.hkeys(keys.packed)) {
    const body = await commands.hget(keys.packed, pack);
    if (body === null) continue;
    const records = await openPack(body, `pack ${pack} in ${keys.packed}`);
    const texts = [...records].map(([id, text]) => ({ id, text }));
    await runScript(commands, unpackRecordsScript, { keys, args: { pack, records: texts } });
  }
}

/** False for an unreadable record, which stays where it is, and for a text with a line break, which would be split. */
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
