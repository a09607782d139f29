import type { EpochMs } from '../../base/time.ts';
import type { FrozenPlan } from '../../orchestrator/ports/rollout-store.ts';
import type { AttributeTable } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { MemoryCounts } from './memory-counts.ts';
import { MemoryQueues } from './memory-queues.ts';

/** One rollout with all its records. */
export interface Kept {
  rollout: Rollout;
  groups: PlanGroups;
  attributes: AttributeTable | undefined;
  readonly upgrades: Map<number, Upgrade>;
  readonly counts: MemoryCounts;
  readonly queues: MemoryQueues;
  readonly events: RolloutEvent[];
  brake: boolean;
  /** By collector: when its intent was stored. */
  readonly intents: Map<number, EpochMs>;
}

/** `rollouts`: only those of rollouts themselves, as thousands of upgrades have many that nobody reads. */
export type KeptEvents = 'all' | 'rollouts' | 'none';

/** Everything that the model of the store keeps. */
export class MemoryState {
  readonly kept = new Map<string, Kept>();
  /** By policy and kind: the id of the active rollout. */
  readonly active = new Map<string, string>();
  /** By policy and day: the highest number. */
  readonly numbers = new Map<string, number>();
  /** By policy: the highest fence. */
  readonly fences = new Map<string, number>();
  readonly now: () => EpochMs;
  readonly #keptEvents: KeptEvents;

  constructor(now: () => EpochMs, keptEvents: KeptEvents) {
    this.now = now;
    this.#keptEvents = keptEvents;
  }

  /** True for a write of a replaced leader. */
  isFenced(rolloutId: string, fence: number | null): boolean {
    if (fence === null) return false;
    const { policy } = parseRolloutId(rolloutId);
    const seen = this.fences.get(policy) ?? 0;
    this.fences.set(policy, Math.max(seen, fence));
    return fence < seen;
  }

  addEvents({ events }: Kept, more: readonly RolloutEvent[]): void {
    if (this.#keptEvents === 'none') return;
    const isAll = this.#keptEvents === 'all';
    for (const each of more) if (isAll || !each.event.startsWith('upgrade.')) events.push(each);
  }

  addUpgrade({ upgrades, counts, queues }: Kept, upgrade: Upgrade): void {
    upgrades.set(upgrade.identity.collectorId, upgrade);
    counts.add(upgrade);
    queues.place(upgrade);
  }

  replaceUpgrade({ upgrades, counts, queues }: Kept, before: Upgrade, after: Upgrade): void {
    upgrades.set(after.identity.collectorId, after);
    counts.replace(before, after);
    queues.remove(before);
    queues.place(after);
  }

  noteIntent({ intents }: Kept, { progress, identity: { collectorId } }: Upgrade, isNew: boolean): void {
    if (progress.state !== 'starting') intents.delete(collectorId);
    else if (isNew || !intents.has(collectorId)) intents.set(collectorId, this.now());
  }

  /** Keeps a plan in place of an earlier one of its rollout, whose events and brake remain. */
  install({ rollout, upgrades, groups, attributes, events }: FrozenPlan): Kept {
    const { brake = false, events: earlier = [] } = this.kept.get(rollout.id) ?? {};
    const entry: Kept = {
      ...{ rollout, groups, attributes, brake, events: earlier },
      upgrades: new Map(),
      counts: new MemoryCounts(),
      queues: new MemoryQueues(),
      intents: new Map(),
    };
    this.kept.set(rollout.id, entry);
    for (const upgrade of upgrades) {
      this.addUpgrade(entry, upgrade);
      this.noteIntent(entry, upgrade, true);
      const { progress, identity } = upgrade;
      if ('endedAt' in progress) entry.counts.noteChange(identity.wave, progress.endedAt);
    }
    this.addEvents(entry, events);
    return entry;
  }
}

/** The key of a policy's active rollout of a kind. */
export function activeKey(policy: string, kind: Rollout['kind']): string {
  return `${policy}/${kind}`;
}

/** Different revs save the comparison. */
export function isSame(a: object, b: object): boolean {
  if (a === b) return true;
  if ('rev' in a && 'rev' in b && a.rev !== b.rev) return false;
  return JSON.stringify(a) === JSON.stringify(b);
}
