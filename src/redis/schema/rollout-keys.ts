import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';

/**
 * The keys of one policy. They share the hash tag `{policy}`, so that one Lua script can use them all on a Redis Cluster.
 */
export interface PolicyKeys {
  /** Strings: the ids of the active rollout and the active rollback. */
  readonly active: Readonly<Record<Rollout['kind'], string>>;
  /** Sorted set: ids of all kept rollouts by the instant of their creation. */
  readonly rollouts: string;
  /** Sorted set: ids of ended rollouts whose records are not packed yet, by the instant of their end. */
  readonly toPack: string;
  /** String: the highest fence seen (DESIGN §3, leader lease). */
  readonly fence: string;
  /** String: the highest number of this day's rollouts. */
  number(yyyymmdd: string): string;
}

/** The keys of one rollout. */
export interface RolloutKeys extends RecordKeys {
  /** Hash: `json`, and fields for scripts; see `stored-rollout.ts`. */
  readonly rollout: string;
  /** Stream: the events, oldest first. */
  readonly events: string;
  /** Stream: copies of the rollout's own events, with the same ids; they outlive the events of upgrades. */
  readonly milestones: string;
  /** String: the plan's groups as JSON. */
  readonly groups: string;
  /** Hash: tables of attributes, of the plan and of late joiners; see `stored-attributes.ts`. */
  readonly attributes: string;
  /** Hash: packs of records of an ended rollout, by their position in the plan; see `packed-records.ts`. */
  readonly packed: string;
}

/** The keys of the records, their counters and sorted sets. */
export interface RecordKeys {
  /** Hash: collector id → record. */
  readonly records: string;
  /** Hash: counters by wave, stratum and domain, slots, learned durations; see `counter-fields.ts`. */
  readonly counters: string;
  /** Sorted set: all collectors by their position in the plan. */
  readonly order: string;
  /** Sorted set: pending collectors by wave, then by lane, then by position in the plan. */
  readonly pending: string;
  /** Sorted set: collectors by the instant at which their step is due, except retrying ones. */
  readonly due: string;
  /** Sorted set: retrying collectors, each as `<id>:<lane>`, by the instant of their retry. */
  readonly retries: string;
  /** Sorted set: creates without an answer by the instant at which their intent was stored, by Redis's clock. */
  readonly intents: string;
  /** Sorted set: failed collectors by the instant of their end, and withdrawn ones by its negative. */
  readonly missed: string;
  /** Hash: ids of the plan's collectors by the bucket of their names; see `name-bucket.ts`. */
  readonly names: string;
}

export function policyKeys(keyPrefix: string, policy: string): PolicyKeys {
  const base = `${keyPrefix}:{${tagOf(policy)}}`;
  return {
    active: { upgrade: `${base}:active`, rollback: `${base}:activeRollback` },
    rollouts: `${base}:rollouts`,
    toPack: `${base}:toPack`,
    fence: `${base}:fence`,
    number: (yyyymmdd) => `${base}:number:${yyyymmdd}`,
  };
}

export function rolloutKeys(keyPrefix: string, rolloutId: string): RolloutKeys {
  const { policy } = parseRolloutId(rolloutId);
  const base = `${keyPrefix}:{${tagOf(policy)}}:${rolloutId}`;
  return {
    rollout: `${base}:rollout`,
    events: `${base}:events`,
    milestones: `${base}:milestones`,
    groups: `${base}:groups`,
    attributes: `${base}:attributes`,
    packed: `${base}:packed`,
    ...recordKeys(base),
  };
}

/** Keys for a plan's records until they are complete. `write` separates two daemons that freeze at once. */
export function stagingKeys(keyPrefix: string, rolloutId: string, write: string): RecordKeys {
  return recordKeys(stagingBase(keyPrefix, rolloutId, write));
}

/** The key for late joiners until they are complete: a hash of records with their index. */
export function joinersKey(keyPrefix: string, rolloutId: string, write: string): string {
  return `${stagingBase(keyPrefix, rolloutId, write)}:joiners`;
}

function stagingBase(keyPrefix: string, rolloutId: string, write: string): string {
  const { policy } = parseRolloutId(rolloutId);
  return `${keyPrefix}:{${tagOf(policy)}}:${rolloutId}:staging:${write}`;
}

function recordKeys(base: string): RecordKeys {
  return {
    records: `${base}:records`,
    counters: `${base}:counters`,
    order: `${base}:order`,
    pending: `${base}:pending`,
    due: `${base}:due`,
    retries: `${base}:retries`,
    intents: `${base}:intents`,
    missed: `${base}:missed`,
    names: `${base}:names`,
  };
}

// A brace in the name would end the hash tag early, and spread one policy over several nodes.
function tagOf(policy: string): string {
  return policy.replaceAll('{', '%7B').replaceAll('}', '%7D');
}
