import type { Steps } from '../../base/steps.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { RepairedUpgrade, RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { noGroups } from '../../rollout/model/plan-groups.ts';
import { isEnd, type Upgrade, type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';
import type { CorruptUpgrade } from '../../rollout/upgrade/repair-upgrade.ts';
import { pairsOf } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { type Counters, counterField, parseCounters } from '../schema/counter-fields.ts';
import { parseOrderScore, parsePendingScore } from '../schema/plan-place.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { decodeGroups, type WriteMark } from '../schema/stored-rollout.ts';
import { decodeUpgrade, encodeUpgrade, upgradeName } from '../schema/stored-upgrade.ts';
import { BrokenRecordError, NewerRecordError } from '../schema/unreadable-records.ts';
import { loadUpgrades } from './list-upgrades.ts';
import { repairUpgradesScript, snapshotScript } from './scripts.ts';
import type { ReadableRollout } from './store-context.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts, indexOf } from './upgrade-index.ts';

interface Corrupt {
  readonly collectorId: number;
  readonly text: string;
  /** The SHA-1 of its bytes, which may be no valid text. */
  readonly sha1: string;
}

/** A rollout's records and counters at one instant. */
interface Snapshot {
  readonly upgrades: readonly Upgrade[];
  readonly corrupt: readonly Corrupt[];
  readonly counters: Counters;
}

/**
 * Replaces corrupt records, and corrects the counters. The difference between counters and records does not change while
 * other records change, so it is computed at one instant and added at another. Remaining corrupt records count as if they
 * may be running. It reads the whole plan, which blocks Redis for 0.5 s for 100,000 collectors.
 */
export async function repairUpgrades(
  commands: RedisCommands,
  rollout: ReadableRollout,
  of: Parameters<RolloutStore['repair']>[0],
  replace: Parameters<RolloutStore['repair']>[1],
  mark: WriteMark,
): Promise<readonly RepairedUpgrade[]> {
  const { id, keys, broken } = rollout;
  const groupsText = await commands.get(keys.groups);
  const groups = broken.read(() => decodeGroups(groupsText ?? '', id)) ?? noGroups;
  const snapshot = await takeSnapshot(commands, rollout);
  const repaired: Array<{ readonly from: Corrupt; readonly to: RepairedUpgrade }> = [];
  const left: Upgrade[] = [];
  for (const from of snapshot.corrupt) {
    const found = await findCorrupt(commands, keys, from);
    if (found === undefined) continue;
    const isMeant = of.collectorId === undefined || of.collectorId === from.collectorId;
    if (isMeant) repaired.push({ from, to: replace(found, groups, of.settlement) });
    else if (found.mayRun) left.push(replace(found, groups, 'watch').upgrade);
    else left.push({ ...replace(found, groups, 'withdraw').upgrade, progress: { state: 'pending' } });
  }
  if (repaired.length === 0) return [];
  const added = [...left, ...repaired.map(({ to }) => to.upgrade)];
  const isDone = await runScript(commands, repairUpgradesScript, {
    keys,
    args: {
      write: mark.write,
      repairs: repaired.map(({ from, to: { upgrade, event } }) => ({
        id: String(from.collectorId),
        sha1: from.sha1,
        record: encodeUpgrade(upgrade, mark.version),
        index: indexOf(upgrade),
        event: JSON.stringify(event),
      })),
      ...(await runInSlices(changesBy(snapshot, added), makeTurnBudget())),
    },
  });
  if (!isDone) return [];
  for (const { from } of repaired) broken.forget(upgradeName(id, from.collectorId));
  return repaired.map(({ to }) => to);
}

/** The corrupt records that `repairUpgrades` would replace now. */
export async function findCorruptUpgrades(
  commands: RedisCommands,
  rollout: ReadableRollout,
): Promise<readonly CorruptUpgrade[]> {
  const { corrupt } = await takeSnapshot(commands, rollout);
  const found = await Promise.all(corrupt.map((each) => findCorrupt(commands, rollout.keys, each)));
  return found.filter((each) => each !== undefined);
}

/** The upgrades with known unreadable records that are still unreadable and running. */
export async function listCorrupt(
  commands: RedisCommands,
  rollout: ReadableRollout,
): Promise<readonly number[]> {
  const { id, keys, broken } = rollout;
  const known = broken.upgradesOf(id);
  if (known.length === 0) return [];
  const { unreadable } = await loadUpgrades(commands, rollout, known);
  const open = new Set<number>();
  for (const collectorId of unreadable)
    if ((await findCorrupt(commands, keys, { collectorId, text: '' })) !== undefined) open.add(collectorId);
  const still = new Set(unreadable);
  for (const collectorId of known) if (!still.has(collectorId)) broken.forget(upgradeName(id, collectorId));
  return [...open];
}

async function takeSnapshot(
  commands: RedisCommands,
  { id, keys, version }: ReadableRollout,
): Promise<Snapshot> {
  let corruptIds: readonly number[] = [];
  // The second attempt knows the corrupt records. More attempts are needed when further ones appear.
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const [records, counters, sha1s] = await runScript(commands, snapshotScript, {
      keys,
      args: { collectors: corruptIds.map(String) },
    });
    const { upgrades, corrupt } = decodeAll(records, { rolloutId: id, version });
    const sha1Of = new Map(corruptIds.map((collectorId, index) => [collectorId, sha1s[index] ?? '']));
    if (corrupt.every(({ collectorId }) => sha1Of.has(collectorId))) {
      return {
        upgrades,
        corrupt: corrupt.map((each) => ({ ...each, sha1: sha1Of.get(each.collectorId) ?? '' })),
        counters: parseCounters(pairsOf(counters)),
      };
    }
    corruptIds = corrupt.map(({ collectorId }) => collectorId);
  }
  throw new Error(`further records of rollout ${id} became corrupt while they were read`);
}

/** @throws NewerRecordError for one that a newer upwave has written */
function decodeAll(
  records: readonly string[],
  of: { readonly rolloutId: string; readonly version: number },
): { readonly upgrades: readonly Upgrade[]; readonly corrupt: ReadonlyArray<Omit<Corrupt, 'sha1'>> } {
  const upgrades: Upgrade[] = [];
  const corrupt: Array<Omit<Corrupt, 'sha1'>> = [];
  for (const [id, text] of pairsOf(records)) {
    const collectorId = Number(id);
    try {
      upgrades.push(decodeUpgrade(text, of, collectorId));
    } catch (error) {
      if (!(error instanceof BrokenRecordError) || error instanceof NewerRecordError) throw error;
      corrupt.push({ collectorId, text });
    }
  }
  return { upgrades, corrupt };
}

/** Finds what the sorted sets show about a corrupt record; undefined when its upgrade has ended, or is not in the plan. */
async function findCorrupt(
  commands: RedisCommands,
  keys: RolloutKeys,
  { collectorId, text }: Pick<Corrupt, 'collectorId' | 'text'>,
): Promise<CorruptUpgrade | undefined> {
  const member = String(collectorId);
  const [placed, pending, due, retries] = await Promise.all([
    commands.zscore(keys.order, member),
    commands.zscore(keys.pending, member),
    commands.zscore(keys.due, member),
    commands.zrange(keys.retries, '0', '-1'),
  ]);
  if (placed === null) return undefined;
  const known = { collectorId, ...parseOrderScore(Number(placed)), text };
  const retry = retries.find((each) => each.startsWith(`${member}:`));
  if (pending !== null) return { ...known, lane: parsePendingScore(Number(pending)).lane, mayRun: false };
  if (retry !== undefined) return { ...known, lane: Number(retry.split(':')[1]), mayRun: false };
  return due === null ? undefined : { ...known, lane: null, mayRun: true };
}

/** The changes of the counters, and the last change of each wave. */
function* changesBy(
  { upgrades, counters }: Snapshot,
  added: readonly Upgrade[],
): Steps<{ readonly counts: object; readonly changed: object }> {
  const counts = new Map<string, number>();
  const changed = new Map<string, number>();
  for (const [field, amount] of yield* countPlan(added))
    (field.endsWith(':changedAt') ? changed : counts).set(field, amount);
  const expected = yield* countPlan([...upgrades, ...added]);
  for (const field of new Set([...counters.keys(), ...expected.keys()]))
    if (countsRunning(field)) counts.set(field, (expected.get(field) ?? 0) - (counters.get(field) ?? 0));
  return { counts: encodeCounts(counts), changed: encodeCounts(changed) };
}

/** True for counters of running upgrades. Corrupt records of ended upgrades stay counted as they are. */
function countsRunning(field: string): boolean {
  const [kind = '', second, third, fourth] = field.split(':');
  if (kind === 's') return fourth === 'waiting' || fourth === 'active';
  if (kind === counterField.slots || kind === 'domain') return true;
  const isState = (upgradeStates as readonly unknown[]).includes(second);
  return third === undefined && isState && !isEnd(second as UpgradeState);
}
