import type { DurationMs } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { makeWriteMarks } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { defaultHistoryMs, policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import type { WriteMark } from '../schema/stored-rollout.ts';
import { type BrokenRecords, makeBrokenRecords, recordVersion } from '../schema/unreadable-records.ts';

/** What a store in Redis is made from. */
export interface RolloutStoreParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** How long an ended rollout is kept. */
  readonly historyMs?: DurationMs;
  /** Receives every record that cannot be read. */
  readonly broken?: BrokenRecords;
  /** The version in which records are written, and the newest that can be read; another one for tests of two versions. */
  readonly version?: number;
  /** Of the config: how long upgrades may take, for a rollout whose own record cannot be read. */
  readonly policies?: readonly Policy[];
}

/** What all parts of one store share: the connection, the keys, the version, and the marks of its writes. */
export type StoreContext = ReturnType<typeof makeStoreContext>;

/** One rollout of a store, with who receives what cannot be read. */
export type ReadableRollout = ReturnType<StoreContext['readable']>;

export function makeStoreContext(parts: RolloutStoreParts) {
  const { commands, keyPrefix, historyMs = defaultHistoryMs, version = recordVersion } = parts;
  const broken = parts.broken ?? makeBrokenRecords(() => undefined);
  const nextWrite = makeWriteMarks();
  const ofRollout = (id: string) => ({ id, keys: rolloutKeys(keyPrefix, id), version });
  return {
    commands,
    keyPrefix,
    historyMs,
    version,
    broken,
    policies: parts.policies ?? [],
    nextMark: (): WriteMark => ({ write: nextWrite(), version }),
    ofPolicy: (policy: string) => policyKeys(keyPrefix, policy),
    ofRollout,
    readable: (id: string) => ({ ...ofRollout(id), broken }),
  };
}
