import type { EpochMs } from '../../base/time.ts';
import { makeTimeline } from '../../base/timeline.ts';
import {
  type AddLateJoinersParts,
  acceptsLateJoiners,
  addLateJoiners,
} from '../../orchestrator/scan/late-joiners.ts';
import { noMemory } from '../../orchestrator/scan/read-plan.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { freezeFirst } from './freeze-first.ts';

/** A policy of the same account, whose rollout takes its share of the API budget. */
export interface OtherPolicy {
  readonly policy: Policy;
  readonly targetBuild: string;
  /** The collectors to which the service offers that build. */
  readonly upgradableIds: ReadonlySet<number>;
  /** When its schedule starts the rollout. */
  readonly startsAt: EpochMs;
}

/** What happens in a rehearsal besides the rollout of the policy. */
export interface Surroundings {
  readonly others?: readonly OtherPolicy[];
  /** When collectors that are down, or installed later, are up, by id. */
  readonly upAt?: ReadonlyMap<number, EpochMs>;
  /** Collectors that are installed later. */
  readonly installed?: readonly FleetCollector[];
  /** When the schedule of the policy scans, in order. */
  readonly scansAt?: readonly EpochMs[];
}

interface AgendaParts extends Omit<AddLateJoinersParts, 'configs'> {
  readonly policy: Policy;
  readonly rolloutId: string;
  readonly snapshot: FleetSnapshot;
  readonly seed: number;
}

/** Puts down what happens at known instants: rollouts of other policies start, and scans add late joiners. */
export function makeAgenda(
  parts: AgendaParts,
  { others = [], upAt = new Map(), scansAt = [] }: Surroundings,
) {
  const agenda = makeTimeline<() => Promise<void>>();
  for (const other of others) agenda.put(other.startsAt, () => start(parts, other));
  // A scan that finds nobody changes nothing.
  const fruitful = new Set([...upAt.values()].map((at) => scansAt.find((scanAt) => scanAt > at)));
  for (const at of fruitful) if (at !== undefined) agenda.put(at, () => scan(parts));
  return agenda;
}

async function start({ store, wakeUps, snapshot, seed }: AgendaParts, other: OtherPolicy): Promise<void> {
  const { policy, targetBuild, upgradableIds, startsAt } = other;
  const frozen = freezeFirst({
    ...{ policy, targetBuild, seed, beganAt: startsAt },
    snapshot: { ...snapshot, upgradableIds },
  });
  if (frozen.upgrades.length === 0) return;
  await store.freeze({ ...frozen, events: [] });
  wakeUps.wake();
}

async function scan(parts: AgendaParts): Promise<void> {
  const rollout = await parts.store.loadRollout(parts.rolloutId);
  if (rollout === undefined || !acceptsLateJoiners(rollout)) return;
  const configs = { check: async () => ({ kind: 'agreed', others: 0 }) as const, versionOf: () => undefined };
  await addLateJoiners({ ...parts, configs }, parts.policy, rollout, noMemory);
}
