import type { DurationMs } from '../base/time.ts';
import type { RolloutEvent } from '../rollout/events.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { holdsSlot, isLost, type Upgrade, weightOf } from '../rollout/upgrade.ts';
import type { RedisCommands } from './connection.ts';
import { counterField } from './counter-fields.ts';
import { activateScript, stageScript } from './freeze-scripts.ts';
import { parseRolloutId, policyKeys, recordKeyList, rolloutKeys, stagingKeys } from './rollout-keys.ts';
import { runScript } from './script.ts';
import { encodeUpgrade } from './stored-upgrade.ts';
import { indexOf, learnedMsOf } from './upgrade-index.ts';

// One chunk keeps Redis busy for a few milliseconds, and is a few hundred KB on the wire.
const recordsPerChunk = 500;

// A plan of 100,000 is staged in seconds; a daemon that needs minutes for it has died.
const stagedForMs: DurationMs = 600_000;

/** How long an ended rollout is kept: a quarter, so that the last release can be compared with this one. */
export const keepEndedMs: DurationMs = 90 * 86_400_000;

/**
 * Writes a plan in chunks beside the living keys, then makes it the policy's active rollout in one step, so that
 * nobody ever sees half a plan. @returns `busy` when the policy has an active rollout, or this id is taken
 */
export async function freezePlan(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  plan: {
    readonly rollout: Rollout;
    readonly upgrades: readonly Upgrade[];
    readonly events: readonly RolloutEvent[];
    /** The mark of this call. */
    readonly write: string;
  },
): Promise<'frozen' | 'busy'> {
  const { commands, keyPrefix } = redis;
  const { rollout, upgrades, write } = plan;
  const { policy } = parseRolloutId(rollout.id);
  const { active } = policyKeys(keyPrefix, policy);
  if ((await commands.exists(active)) === 1) return 'busy';
  const staging = recordKeyList(stagingKeys(keyPrefix, rollout.id, write));
  for (let from = 0; from < upgrades.length; from += recordsPerChunk) {
    const chunk = upgrades.slice(from, from + recordsPerChunk);
    const args = chunk.flatMap((upgrade) => encodeStaged(upgrade, write));
    await runScript(commands, stageScript, { keys: staging, args: [stagedForMs, ...args] });
  }
  const answer = await activate(redis, plan, staging);
  if (answer === 'busy') await commands.del(...staging);
  if (answer === 'lost')
    throw new Error(`the staged records of rollout ${rollout.id} ran out before it began`);
  return answer;
}

function encodeStaged(upgrade: Upgrade, write: string): readonly string[] {
  const index = { order: String(upgrade.order), ...indexOf(upgrade) };
  return [
    String(upgrade.collectorId),
    JSON.stringify(index),
    `${encodeUpgrade(upgrade)},"write":"${write}"}`,
  ];
}

async function activate(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  plan: {
    readonly rollout: Rollout;
    readonly upgrades: readonly Upgrade[];
    readonly events: readonly RolloutEvent[];
    readonly write: string;
  },
  staging: readonly string[],
): Promise<'frozen' | 'busy' | 'lost'> {
  const { rollout, upgrades, events, write } = plan;
  const { policy, yyyymmdd, number } = parseRolloutId(rollout.id);
  const ofPolicy = policyKeys(redis.keyPrefix, policy);
  const keys = rolloutKeys(redis.keyPrefix, rollout.id);
  const call = {
    id: rollout.id,
    write,
    records: upgrades.length,
    number,
    numberKeepMs: keepEndedMs,
    createdAt: rollout.createdAt,
    state: rollout.state,
    rev: rollout.rev,
  };
  const answer = await runScript(redis.commands, activateScript, {
    keys: [
      ofPolicy.active,
      ofPolicy.rollouts,
      ofPolicy.number(yyyymmdd),
      keys.rollout,
      keys.events,
      ...staging,
      ...recordKeyList(keys),
    ],
    args: [
      JSON.stringify(call),
      JSON.stringify(rollout),
      JSON.stringify(countAll(upgrades)),
      ...events.map((event) => JSON.stringify(event)),
    ],
  });
  return answer as 'frozen' | 'busy' | 'lost';
}

/** The counters of a plan, names and values in turn: a plan rebuilt from the service may have begun already (P11). */
function countAll(upgrades: readonly Upgrade[]): readonly string[] {
  const counters = new Map<string, number>();
  const add = (field: string, amount: number) => counters.set(field, (counters.get(field) ?? 0) + amount);
  for (const upgrade of upgrades) {
    add(counterField.state(upgrade.wave, upgrade.state), 1);
    add(counterField.slots, Number(holdsSlot(upgrade.state)));
    add(counterField.weight(upgrade.wave), weightOf(upgrade));
    add(counterField.lost(upgrade.wave), Number(isLost(upgrade)));
    if ('endedAt' in upgrade) {
      const field = counterField.changedAt(upgrade.wave);
      counters.set(field, Math.max(counters.get(field) ?? 0, upgrade.endedAt));
    }
    const learnedMs = learnedMsOf(upgrade);
    if (learnedMs === undefined) continue;
    add(counterField.learnedCount, 1);
    add(counterField.learnedSumMs, learnedMs);
  }
  return [...counters].flatMap(([field, value]) => (value === 0 ? [] : [field, String(value)]));
}
