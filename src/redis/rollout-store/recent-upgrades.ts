import { keepLatest } from '../../base/keep-latest.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { decodeUpgrade } from '../schema/stored-upgrade.ts';

// The lists of a status: a few rollouts with 200 upgrades of each group. That is about 2 MB for each account.
const keptMax = 1_000;

/**
 * Decodes upgrades, and keeps those that it decoded last. Every few seconds a status reads the same few hundred, and a record
 * changes once or twice a minute.
 */
export function makeRecentUpgrades(): typeof decodeUpgrade {
  const kept = new Map<string, { readonly text: string; readonly upgrade: Upgrade }>();
  return (text, of, collectorId) => {
    const key = `${of.rolloutId} ${collectorId}`;
    const known = kept.get(key);
    if (known?.text === text) return known.upgrade;
    const upgrade = decodeUpgrade(text, of, collectorId);
    keepLatest(kept, key, { text, upgrade }, keptMax);
    return upgrade;
  };
}
