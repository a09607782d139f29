import { invariant } from '../../base/assert.ts';
import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { Rebuilt } from '../../orchestrator/ports/rollout-store.ts';
import type { Remains } from '../../rollout/decision/unreadable-upgrades.ts';
import { noGroups, type PlanGroups } from '../../rollout/model/plan-groups.ts';
import { isEnd, type Upgrade, type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';
import { runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { type Counters, counterField, parseCounters } from '../schema/counter-fields.ts';
import { parseOrderScore, parsePendingScore } from '../schema/plan-place.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { decodeGroups, type WriteMark } from '../schema/stored-rollout.ts';
import { decodeUpgrade, encodeUpgrade, upgradeName } from '../schema/stored-upgrade.ts';
import type { BrokenRecords } from '../schema/unreadable-records.ts';
import { BrokenRecordError } from '../schema/unreadable-records.ts';
import { mendScript, snapshotScript } from './repair-scripts.ts';
import { countPlan } from './upgrade-counters.ts';
import { encodeCounts, indexOf } from './upgrade-index.ts';

interface MendCall {
  /** Of whom it is known that they can't be read; others may be found. */
  readonly collectorIds: readonly number[];
  readonly rebuild: (remains: Remains, groups: PlanGroups) => Rebuilt;
  readonly fence: Fence;
  readonly fenceKey: string;
  readonly mark: WriteMark;
}

interface StoredRollout {
  readonly id: string;
  readonly keys: RolloutKeys;
  readonly broken: BrokenRecords;
  readonly version: number;
}

interface Broken {
  readonly collectorId: number;
  readonly text: string;
  /** Of its bytes, which may be no text at all. */
  readonly sha1: string;
}

/** A rollout's records and counters of one instant. */
interface Snapshot {
  readonly broken: readonly Broken[];
  /** What the counters have beside those that can be read: what the others were when they were counted. */
  readonly unexplained: Counters;
}

/**
 * Puts other records in the place of those that can't be read. What they were counted as is what the counters say beyond
 * all the others, at one instant: nobody can change a record that can't be read, so that stays so until they are
 * replaced, all at once. It reads the whole plan, for which Redis stands still 0.5 s for 100,000 collectors.
 */
export async function repairUpgrades(
  commands: RedisCommands,
  rollout: StoredRollout,
  call: MendCall,
): Promise<readonly Rebuilt[]> {
  const { id, keys, broken } = rollout;
  const groupsText = await commands.get(keys.groups);
  const groups = broken.read(() => decodeGroups(groupsText ?? '', id)) ?? noGroups;
  const snapshot = await takeSnapshot(commands, rollout, call.collectorIds);
  const found = new Set(snapshot.broken.map(({ collectorId }) => collectorId));
  for (const collectorId of call.collectorIds)
    if (!found.has(collectorId)) broken.forget(upgradeName(id, collectorId));
  const repaired: Array<{ readonly from: Broken; readonly to: Rebuilt }> = [];
  for (const from of snapshot.broken) {
    const remains = await findRemains(commands, { keys, groups, snapshot }, from);
    if (remains === undefined) broken.leave(upgradeName(id, from.collectorId));
    else repaired.push({ from, to: call.rebuild(remains, groups) });
  }
  if (repaired.length === 0) return [];
  const isDone = await runScript(commands, mendScript, {
    keys: [
      keys.rollout,
      keys.records,
      keys.counters,
      keys.pending,
      keys.due,
      keys.retries,
      keys.intents,
      keys.missed,
      keys.events,
      call.fenceKey,
    ],
    args: [
      JSON.stringify({ write: call.mark.write, fence: call.fence, ...countsOf(snapshot, repaired) }),
      ...repaired.flatMap(({ from, to: { upgrade, event } }) => [
        JSON.stringify({ id: String(upgrade.identity.collectorId), sha1: from.sha1, ...indexOf(upgrade) }),
        encodeUpgrade(upgrade, call.mark.version),
        JSON.stringify(event),
      ]),
    ],
  });
  if (isDone !== 1) return [];
  for (const { from } of repaired) broken.forget(upgradeName(id, from.collectorId));
  return repaired.map(({ to }) => to);
}

async function takeSnapshot(
  commands: RedisCommands,
  { id, keys, version }: StoredRollout,
  known: readonly number[],
): Promise<Snapshot> {
  let asked = known;
  // Usually once; again where others are found that can't be read.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const reply = await runScript(commands, snapshotScript, {
      keys: [keys.records, keys.counters],
      args: asked,
    });
    const [records, counters, sha1s] = reply as readonly (readonly string[])[];
    invariant(records !== undefined && counters !== undefined && sha1s !== undefined, 'three lists');
    const { upgrades, broken } = decodeAll(records, { rolloutId: id, version });
    const sha1Of = new Map(asked.map((collectorId, index) => [collectorId, sha1s[index] ?? '']));
    if (broken.every(({ collectorId }) => sha1Of.has(collectorId))) {
      return {
        broken: broken.map((each) => ({ ...each, sha1: sha1Of.get(each.collectorId) ?? '' })),
        unexplained: subtract(parseCounters(counters), countPlan(upgrades)),
      };
    }
    asked = broken.map(({ collectorId }) => collectorId);
  }
  throw new Error(`the records of rollout ${id} break faster than they can be read`);
}

function decodeAll(
  records: readonly string[],
  of: { readonly rolloutId: string; readonly version: number },
): { readonly upgrades: readonly Upgrade[]; readonly broken: ReadonlyArray<Omit<Broken, 'sha1'>> } {
  const upgrades: Upgrade[] = [];
  const broken: Array<Omit<Broken, 'sha1'>> = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const collectorId = Number(records[at]);
    const text = records[at + 1] ?? '';
    try {
      upgrades.push(decodeUpgrade(text, of, collectorId));
    } catch (error) {
      if (!(error instanceof BrokenRecordError)) throw error;
      broken.push({ collectorId, text });
    }
  }
  return { upgrades, broken };
}

function subtract(counters: Counters, explained: Counters): Counters {
  const left = new Map<string, number>();
  for (const field of new Set([...counters.keys(), ...explained.keys()])) {
    if (!isOnTheWay(field)) continue;
    const amount = (counters.get(field) ?? 0) - (explained.get(field) ?? 0);
    if (amount !== 0) left.set(field, amount);
  }
  return left;
}

/** Whether a counter counts upgrades that are on their way: those that are over stay counted as they are. */
function isOnTheWay(field: string): boolean {
  const [kind = '', second, third, fourth] = field.split(':');
  if (kind === 's') return fourth === 'waiting' || fourth === 'active';
  if (kind === counterField.slots || kind === 'domain') return true;
  const isState = (upgradeStates as readonly unknown[]).includes(second);
  return third === undefined && isState && !isEnd(second as UpgradeState);
}

/** What the indexes tell of it; undefined when it is over, or never was in the plan. */
async function findRemains(
  commands: RedisCommands,
  of: { readonly keys: RolloutKeys; readonly groups: PlanGroups; readonly snapshot: Snapshot },
  { collectorId, text }: Broken,
): Promise<Remains | undefined> {
  const { keys, groups, snapshot } = of;
  const member = String(collectorId);
  const [placed, pending, due, retries] = await Promise.all([
    commands.zscore(keys.order, member),
    commands.zscore(keys.pending, member),
    commands.zscore(keys.due, member),
    commands.zrange(keys.retries, '0', '-1'),
  ]);
  const retry = retries.find((each) => each.startsWith(`${member}:`));
  if (placed === null || (pending === null && due === null && retry === undefined)) return undefined;
  const { wave, order } = parseOrderScore(Number(placed));
  const known = { collectorId, wave, order, text };
  if (pending !== null || retry !== undefined) {
    const lane = pending === null ? Number(retry?.split(':')[1]) : parsePendingScore(Number(pending)).lane;
    return { ...known, lane, domains: groups.lanes[lane]?.domains ?? [], mayRun: false };
  }
  const lane = findLane(groups, snapshot.unexplained, { wave, text });
  const counted = [...snapshot.unexplained].flatMap(([field, amount]) =>
    field.startsWith('domain:') && amount > 0 ? [Number(field.split(':')[1])] : [],
  );
  const domains = [...new Set([...(groups.lanes[lane]?.domains ?? []), ...counted])];
  return { ...known, lane, domains, mayRun: mayRunIn(snapshot, wave) };
}

/** By its own text where that tells, else one of the stratum of which one more is counted than can be read. */
function findLane(
  { lanes }: PlanGroups,
  unexplained: Counters,
  { wave, text }: { readonly wave: number; readonly text: string },
): number {
  const told = Number(/"lane":(\d+)[,}]/.exec(text)?.[1] ?? Number.NaN);
  if (lanes[told] !== undefined) return told;
  const isActive = (stratum: number) =>
    (unexplained.get(counterField.stratum(stratum, wave, 'active')) ?? 0) > 0;
  return Math.max(
    0,
    lanes.findIndex(({ stratum }) => isActive(stratum)),
  );
}

/** Whether one that has a step may have a task: what the wave counts beyond what can be read says so, or does not add up. */
function mayRunIn({ unexplained }: Snapshot, wave: number): boolean {
  const amounts = (states: readonly UpgradeState[]) =>
    states.map((state) => unexplained.get(counterField.state(wave, state)) ?? 0);
  const running = amounts(['starting', 'upgrading', 'verifying']);
  const others = amounts(['queued', 'deferred']);
  return running.some((amount) => amount !== 0) || others.every((amount) => amount <= 0);
}

/** What the broken ones were counted as, taken away, and what takes their place. */
function countsOf(
  { unexplained }: Snapshot,
  repaired: ReadonlyArray<{ readonly to: Rebuilt }>,
): { readonly counts: readonly string[]; readonly changed: readonly string[] } {
  const counts = new Map<string, number>();
  for (const [field, amount] of unexplained) counts.set(field, -amount);
  const changed: string[] = [];
  for (const [field, amount] of countPlan(repaired.map(({ to: { upgrade } }) => upgrade))) {
    if (field.endsWith(':changedAt')) changed.push(field, String(amount));
    else counts.set(field, (counts.get(field) ?? 0) + amount);
  }
  return { counts: Object.entries(encodeCounts(counts)).flat(), changed };
}
