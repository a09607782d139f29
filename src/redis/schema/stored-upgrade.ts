import { type Upgrade, upgradeStates } from '../../rollout/model/upgrade.ts';
import { encodeJson } from '../connection/script.ts';
import { BrokenRecordError, NewerRecordError } from './unreadable-records.ts';

/**
 * A record on its way to Redis: JSON without its last brace. The scripts add `"write":"<mark>"}`, the mark of the one
 * call that wrote it, by which a command that ioredis sent twice is known from the same change made by someone else.
 */
export function encodeUpgrade(upgrade: Upgrade, version: number): string {
  return encodeJson({ ...upgrade, v: version }).slice(0, -1);
}

/**
 * Reads a record back. Only what an adapter must rely on is checked; the rest was written by `encodeUpgrade`.
 * @param of `version`: the newest that can be read
 * @throws BrokenRecordError
 */
export function decodeUpgrade(
  text: string,
  { rolloutId, version }: { readonly rolloutId: string; readonly version: number },
  collectorId: string | number,
): Upgrade {
  const what = upgradeName(rolloutId, collectorId);
  const of = { rolloutId, collectorId: Number(collectorId) };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new BrokenRecordError(what, error, of);
  }
  const { v } = fieldsOf(parsed);
  const written = typeof v === 'number' ? v : 1;
  if (written > version) throw new NewerRecordError(what, written, version);
  if (!isUpgrade(parsed, Number(collectorId))) throw new BrokenRecordError(what, 'it is no upgrade', of);
  const { identity, tally, progress, rev } = parsed;
  return { identity, tally, progress, rev };
}

/** What a record is called when it can't be read. */
export function upgradeName(rolloutId: string, collectorId: string | number): string {
  return `the record of collector ${collectorId} of rollout ${rolloutId}`;
}

function isUpgrade(value: unknown, collectorId: number): value is Upgrade {
  const { identity, tally, progress, rev } = fieldsOf(value);
  const { collectorId: id, wave } = fieldsOf(identity);
  return (
    id === collectorId &&
    Number.isInteger(rev) &&
    Number.isInteger(wave) &&
    typeof tally === 'object' &&
    tally !== null &&
    (upgradeStates as readonly unknown[]).includes(fieldsOf(progress)['state'])
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
