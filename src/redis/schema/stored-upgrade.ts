import { type Upgrade, upgradeStates } from '../../rollout/model/upgrade.ts';
import { encodeJson } from '../connection/script.ts';
import { BrokenRecordError, NewerRecordError } from './unreadable-records.ts';

/**
 * Encodes a record as JSON. The scripts store it after the mark of its write and a space (`record.lua`), which distinguishes
 * a command that was sent twice from the same change by another call.
 */
export function encodeUpgrade(upgrade: Upgrade, version: number): string {
  return encodeJson({ ...upgrade, v: version });
}

/**
 * Decodes a record. It checks only what adapters rely on, because `encodeUpgrade` wrote the rest.
 * @param of `version`: the newest readable version
 * @throws BrokenRecordError
 */
export function decodeUpgrade(
  text: string,
  { rolloutId, version }: { readonly rolloutId: string; readonly version: number },
  collectorId: string | number,
): Upgrade {
  const what = upgradeName(rolloutId, collectorId);
  const ids = { rolloutId, collectorId: Number(collectorId) };
  let parsed: unknown;
  try {
    parsed = JSON.parse(recordJson(text));
  } catch (error) {
    throw new BrokenRecordError(what, error, ids);
  }
  const { v } = fieldsOf(parsed);
  if (typeof v === 'number' && v > version) throw new NewerRecordError(what, v, version);
  if (!isUpgrade(parsed, Number(collectorId))) throw new BrokenRecordError(what, 'it is no upgrade', ids);
  const { identity, tally, progress, rev } = parsed;
  return { identity, tally, progress, rev };
}

/** The JSON of a stored record, after the mark of its write. */
export function recordJson(text: string): string {
  return text.slice(text.indexOf(' ') + 1);
}

/** The name of an upgrade's record in error messages. */
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
