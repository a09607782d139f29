import type { AttributeTable } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { type RolloutKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import { decodeAttributes, tablesInOrder } from '../schema/stored-attributes.ts';
import {
  decodeEvent,
  decodeGroups,
  type FlatRollout,
  readRollout,
  rolloutName,
} from '../schema/stored-rollout.ts';
import { decodeUpgrade } from '../schema/stored-upgrade.ts';
import { BrokenRecordError, recordVersion } from '../schema/unreadable-records.ts';
import { readRecords } from './packed-records.ts';

/** A line of a rollout's record. */
export type RecordLine =
  | { readonly kind: 'rollout'; readonly rollout: FlatRollout }
  | { readonly kind: 'groups'; readonly groups: PlanGroups }
  /** The attributes of a collector when it was planned, or joined. */
  | {
      readonly kind: 'attributes';
      readonly collectorId: number;
      readonly attributes: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'upgrade'; readonly upgrade: Upgrade }
  | { readonly kind: 'event'; readonly event: RolloutEvent }
  /** Replaces any of them: what it is, and its text. */
  | { readonly kind: 'unreadable'; readonly what: string; readonly text: string };

// A few hundred KB each.
const pageSize = 1_000;

/**
 * All records of a rollout: the rollout with its policy and waves, the groups of its plan, the attributes of its collectors,
 * the upgrades in plan order, and the events, oldest first. Empty when there is no such rollout. Records of a running
 * rollout are read one after another, so they may not be of one instant.
 */
export async function* exportRollout(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  rolloutId: string,
): AsyncGenerator<RecordLine> {
  const { commands, keyPrefix } = redis;
  const keys = rolloutKeys(keyPrefix, rolloutId);
  const [[json, rev, v, replaced], groups] = await Promise.all([
    commands.hmget(keys.rollout, 'json', 'rev', 'v', 'replaced'),
    commands.get(keys.groups),
  ]);
  if (typeof rev !== 'string') return;
  const readIt = (text: string) => readRollout({ json: text, rev, v: v ?? null }, rolloutId, recordVersion);
  yield readLine(json ?? '', (text) => ({ kind: 'rollout', rollout: readIt(text) }));
  if (typeof replaced === 'string')
    yield { kind: 'unreadable', what: rolloutName(rolloutId), text: replaced };
  if (groups !== null)
    yield readLine(groups, (text) => ({ kind: 'groups', groups: decodeGroups(text, rolloutId) }));
  for (const text of tablesInOrder(await commands.hgetall(keys.attributes)))
    yield* readAttributes(text, rolloutId);
  const planned = await commands.zcard(keys.order);
  for (let offset = 0; offset < planned; offset += pageSize) {
    const ids = await commands.zrange(keys.order, String(offset), String(offset + pageSize - 1));
    const texts = await readRecords(commands, keys, ids);
    for (const [index, record] of texts.entries()) {
      const decode = (text: string) =>
        decodeUpgrade(text, { rolloutId, version: recordVersion }, ids[index] ?? '');
      if (record !== null) yield readLine(record, (text) => ({ kind: 'upgrade', upgrade: decode(text) }));
    }
  }
  yield* readEvents(commands, keys, rolloutId);
}

/** The events up to the present last one, because a running rollout adds more. Milestones from before the first one come first. */
async function* readEvents(
  commands: RedisCommands,
  keys: RolloutKeys,
  rolloutId: string,
): AsyncGenerator<RecordLine> {
  const [first] = await commands.xrange(keys.events, '-', '+', 'COUNT', 1);
  const [last] = await commands.xrevrange(keys.events, '+', '-', 'COUNT', 1);
  if (first === undefined || last === undefined) return;
  const older = await commands.xrange(keys.milestones, '-', `(${first[0]}`);
  for (const entry of older) yield readEvent(entry, rolloutId);
  let from = first[0];
  for (;;) {
    const page = await commands.xrange(keys.events, from, last[0], 'COUNT', pageSize);
    for (const entry of page) yield readEvent(entry, rolloutId);
    const end = page.at(-1);
    if (end === undefined || end[0] === last[0]) return;
    from = `(${end[0]}`;
  }
}

function readEvent([id, fields]: readonly [string, readonly string[]], rolloutId: string): RecordLine {
  const decode = (text: string) => decodeEvent(text, rolloutId, id);
  return readLine(fields[1] ?? '', (text) => ({ kind: 'event', event: decode(text) }));
}

async function* readAttributes(text: string, rolloutId: string): AsyncGenerator<RecordLine> {
  const decode = await decodeAttributes(text, rolloutId);
  try {
    const table = decode();
    for (const [row, collectorId] of table.ids.entries())
      yield { kind: 'attributes', collectorId, attributes: attributesIn(table, row) };
  } catch (error) {
    if (!(error instanceof BrokenRecordError)) throw error;
    yield { kind: 'unreadable', what: error.what, text };
  }
}

function attributesIn({ columns }: AttributeTable, row: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    columns.flatMap(({ key, values, cells }) => {
      const value = values[cells[row] ?? -1];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function readLine(text: string, decode: (text: string) => RecordLine): RecordLine {
  try {
    return decode(text);
  } catch (error) {
    if (!(error instanceof BrokenRecordError)) throw error;
    return { kind: 'unreadable', what: error.what, text };
  }
}
