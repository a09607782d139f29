import type { DurationMs } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { makeWriteMarks } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import type { StoredRollout, WriteMark } from '../schema/stored-rollout.ts';
import type { BrokenRecords } from '../schema/unreadable-records.ts';

/** The parts of a store in Redis. */
export interface RolloutStoreParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** How long an ended rollout is kept. */
  readonly historyMs: DurationMs;
  /** Receives every unreadable record. */
  readonly broken: BrokenRecords;
  /** The version of written records, and the newest readable one. */
  readonly version: number;
  /** The configured policies, whose durations apply to a rollout with an unreadable record. */
  readonly policies: () => readonly Policy[];
}

/** What all parts of a store share: the connection, the keys, the version, and the marks of writes. */
export type StoreContext = ReturnType<typeof makeStoreContext>;

/** One rollout of a store, with the receiver of unreadable records. */
export type ReadableRollout = ReturnType<StoreContext['readable']>;

export function makeStoreContext(parts: RolloutStoreParts) {
  const { commands, keyPrefix, historyMs, broken, version, policies } = parts;
  const nextWrite = makeWriteMarks();
  const ofRollout = (id: string) => ({ id, keys: rolloutKeys(keyPrefix, id), version });
  return {
    commands,
    keyPrefix,
    historyMs,
    version,
    broken,
    policies,
    /** Rollouts as they were read last, by id. */
    decoded: new Map<string, { readonly stored: StoredRollout; readonly rollout: Rollout }>(),
    nextMark: (): WriteMark => ({ write: nextWrite(), version }),
    ofPolicy: (policy: string) => policyKeys(keyPrefix, policy),
    ofRollout,
    readable: (id: string) => ({ ...ofRollout(id), broken }),
  };
}
