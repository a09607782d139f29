import { type Upgrade, upgradeStates } from '../../rollout/model/upgrade.ts';
import { encodeJson } from '../connection/script.ts';
import { BrokenRecordError } from './unreadable-records.ts';

/**
 * A record on its way to Redis: JSON without its last brace. The scripts add `"write":"<mark>"}`, the mark of the one
 * call that wrote it, by which a command that ioredis sent twice is known from the same change made by someone else.
 */
export function encodeUpgrade(upgrade: Upgrade): string {
  return encodeJson(upgrade).slice(0, -1);
}

/**
 * Reads a record back. Only what an adapter must rely on is checked; the rest was written by `encodeUpgrade`.
 * @throws BrokenRecordError
 */
export function decodeUpgrade(text: string, rolloutId: string, collectorId: string | number): Upgrade {
  const what = upgradeName(rolloutId, collectorId);
  const of = { rolloutId, collectorId: Number(collectorId) };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new BrokenRecordError(what, error, of);
  }
  if (!isUpgrade(parsed, Number(collectorId))) throw new BrokenRecordError(what, 'it is no upgrade', of);
  const { write: _write, ...upgrade } = parsed;
  // Earlier versions wrote fractions of a millisecond here.
  if ('dueAt' in upgrade && typeof upgrade.dueAt === 'number') upgrade.dueAt = Math.ceil(upgrade.dueAt);
  // The union is lost in the spread; the object is the one that was checked.
  return upgrade as Upgrade;
}

/** What a record is called when it can't be read. */
export function upgradeName(rolloutId: string, collectorId: string | number): string {
  return `the record of collector ${collectorId} of rollout ${rolloutId}`;
}

function isUpgrade(value: unknown, collectorId: number): value is Upgrade & { readonly write: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const { collectorId: id, rev, wave, state } = value as Record<string, unknown>;
  return (
    id === collectorId &&
    Number.isInteger(rev) &&
    Number.isInteger(wave) &&
    (upgradeStates as readonly unknown[]).includes(state)
  );
}
