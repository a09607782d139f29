import type { DurationMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';

/**
 * The keys of one policy. They share the hash tag `{policy}`, so that one Lua script may touch them all on a Redis
 * Cluster.
 */
export interface PolicyKeys {
  /** Strings: the id of the rollout, and of the rollback, whose upgrades have not all ended. */
  readonly active: Readonly<Record<Rollout['kind'], string>>;
  /** Sorted set: ids of all kept rollouts by the instant of their creation. */
  readonly rollouts: string;
  /** String: the highest fence seen (DESIGN §3, leader lease). */
  readonly fence: string;
  /** String: the highest number that a rollout of this day has. */
  number(yyyymmdd: string): string;
}

/** The keys of one rollout. */
export interface RolloutKeys extends RecordKeys {
  /** Hash: `json`, and beside it what scripts read; see `stored-rollout.ts`. */
  readonly rollout: string;
  /** Stream: the events, oldest first. */
  readonly events: string;
  /** String: the plan's groups as JSON. */
  readonly groups: string;
  /** Hash: tables of attributes, that of the plan and those of late joiners; see `stored-attributes.ts`. */
  readonly attributes: string;
  /** Hash: packs of records of a rollout that is over, by their place in the plan; see `packed-records.ts`. */
  readonly packed: string;
}

/** The keys that hold the records, and what is counted and sorted with them. */
export interface RecordKeys {
  /** Hash: collector id → record. */
  readonly records: string;
  /** Hash: counters by wave, stratum and domain, slots, learned durations; see `counter-fields.ts`. */
  readonly counters: string;
  /** Sorted set: all collectors by their place in the plan. */
  readonly order: string;
  /** Sorted set: pending collectors by wave, then by lane, then by place in the plan. */
  readonly pending: string;
  /** Sorted set: collectors whose step is due at an instant, retrying ones excepted. */
  readonly due: string;
  /** Sorted set: retrying collectors, each as `<id>:<lane>`, by the instant of their retry. */
  readonly retries: string;
  /** Sorted set: creates without an answer by the instant at which their intent was stored, by Redis's clock. */
  readonly intents: string;
  /** Sorted set: failed collectors by the instant of their end, and withdrawn ones by its negative. */
  readonly missed: string;
  /** Hash: ids of the collectors of the plan by the bucket of their names; see `name-bucket.ts`. */
  readonly names: string;
}

export function policyKeys(keyPrefix: string, policy: string): PolicyKeys {
  const base = `${keyPrefix}:{${tagOf(policy)}}`;
  return {
    active: { upgrade: `${base}:active`, rollback: `${base}:activeRollback` },
    rollouts: `${base}:rollouts`,
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
    groups: `${base}:groups`,
    attributes: `${base}:attributes`,
    packed: `${base}:packed`,
    ...recordKeys(base),
  };
}

/** Where a plan's records wait until they are all there. `write` keeps two daemons that freeze at once apart. */
export function stagingKeys(keyPrefix: string, rolloutId: string, write: string): RecordKeys {
  return recordKeys(stagingBase(keyPrefix, rolloutId, write));
}

/** Where late joiners wait until they are all there: a hash of records with their index. */
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

/** How long what is over is kept, unless the config says otherwise: a quarter, so that two releases can be compared. */
export const defaultHistoryMs: DurationMs = 90 * 86_400_000;
