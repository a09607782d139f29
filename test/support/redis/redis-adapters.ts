import type { ApiBudgetDispatcherParts } from '../../../src/redis/api-budget/api-budget.ts';
import type { ApiBudgetLedgerParts } from '../../../src/redis/api-budget/ledger.ts';
import type { RedisFaults } from '../../../src/redis/connection/faults.ts';
import { makeRedisFleetRegister } from '../../../src/redis/coordination/fleet-register.ts';
import { makeRedisRolloutStore } from '../../../src/redis/rollout-store/rollout-store.ts';
import type { RolloutStoreParts } from '../../../src/redis/rollout-store/store-context.ts';
import { makeBrokenRecords, recordVersion } from '../../../src/redis/schema/unreadable-records.ts';

type Place = Pick<RolloutStoreParts, 'commands' | 'keyPrefix'>;
type RegisterParts = Parameters<typeof makeRedisFleetRegister>[0];

const historyMs = 90 * 86_400_000;

/** A store of rollouts, as a daemon without policies has it. Unreadable records are not reported. */
export function aRedisStore(parts: Place & Partial<RolloutStoreParts>) {
  const broken = makeBrokenRecords(() => undefined);
  return makeRedisRolloutStore({ historyMs, broken, version: recordVersion, policies: () => [], ...parts });
}

/** A register of what belongs to no rollout. Unreadable records are not reported. */
export function aRedisRegister(parts: Place & Partial<RegisterParts>) {
  return makeRedisFleetRegister({ historyMs, broken: makeBrokenRecords(() => undefined), ...parts });
}

/** Faults of Redis that no person sees. */
export const noFaults: RedisFaults = { met: () => undefined, over: () => undefined, reason: () => null };

/** An API budget of a daemon that reports nothing. */
export const quietBudget = {
  accessId: 'suABCDEFG12345',
  requestsPerSecond: 400,
  concurrentRequests: 10,
  permitLifeMs: 60_000,
  onStatus: () => undefined,
  onStarved: () => undefined,
  faults: noFaults,
} satisfies Partial<ApiBudgetLedgerParts> & Partial<ApiBudgetDispatcherParts>;

/** A leader lease of a daemon that may always lead, and reports nothing. */
export const quietLease = {
  mayLead: () => true,
  onLapsed: () => undefined,
  onTaken: () => undefined,
  faults: noFaults,
};
