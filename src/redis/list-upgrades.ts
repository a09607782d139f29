import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';
import type { RedisCommands } from './connection.ts';
import { countOf, parseCounters } from './counter-fields.ts';
import type { RolloutKeys } from './rollout-keys.ts';
import { decodeUpgrade } from './stored-upgrade.ts';

// One read's worth of records while looking for those of one state: a few hundred KB.
const scannedPerRead = 1_000;

export interface UpgradePage {
  readonly offset: number;
  readonly limit: number;
  readonly state?: UpgradeState;
}

/** A page of records in plan order. With a state, the plan is read in pieces until the page is full. */
export async function listUpgrades(
  commands: RedisCommands,
  rollout: { readonly id: string; readonly keys: RolloutKeys },
  page: UpgradePage,
): Promise<readonly Upgrade[]> {
  const { keys } = rollout;
  const { offset, limit, state } = page;
  if (limit <= 0) return [];
  if (state === undefined || state === 'pending') {
    const key = state === undefined ? keys.order : keys.pending;
    const ids = await commands.zrange(key, String(offset), String(offset + limit - 1));
    const records = await readUpgrades(commands, rollout, ids);
    // Read in two steps: one that left the state in between belongs to another list now.
    return state === undefined ? records : records.filter((record) => record.state === state);
  }
  return scan(commands, rollout, { offset, limit, state });
}

/** The records of these collectors, in this order; the ones that are not in the rollout are left out. */
export async function readUpgrades(
  commands: RedisCommands,
  rollout: { readonly id: string; readonly keys: RolloutKeys },
  collectorIds: ReadonlyArray<string | number>,
): Promise<readonly Upgrade[]> {
  if (collectorIds.length === 0) return [];
  const texts = await commands.hmget(rollout.keys.records, ...collectorIds.map(String));
  return texts.flatMap((text, index) =>
    text === null ? [] : [decodeUpgrade(text, rollout.id, collectorIds[index] ?? 0)],
  );
}

async function scan(
  commands: RedisCommands,
  rollout: { readonly id: string; readonly keys: RolloutKeys },
  page: { readonly offset: number; readonly limit: number; readonly state: UpgradeState },
): Promise<readonly Upgrade[]> {
  const { keys } = rollout;
  const counters = parseCounters(flatten(await commands.hgetall(keys.counters)));
  // The counters say how many there are, so that the walk ends with the last of them and not with the plan.
  const wanted = Math.min(page.offset + page.limit, countOf(counters, page.state));
  if (wanted <= page.offset) return [];
  const found: Upgrade[] = [];
  const planned = await commands.zcard(keys.order);
  let passed = 0;
  for (let from = 0; from < planned && passed < wanted; from += scannedPerRead) {
    const ids = await commands.zrange(keys.order, String(from), String(from + scannedPerRead - 1));
    for (const record of await readUpgrades(commands, rollout, ids)) {
      if (record.state !== page.state) continue;
      passed += 1;
      if (passed > page.offset && passed <= wanted) found.push(record);
    }
  }
  return found;
}

function flatten(fields: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(fields).flat();
}
