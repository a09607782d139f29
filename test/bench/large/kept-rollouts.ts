import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { freezePlan } from '../../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { aRedisStore } from '../../support/redis/redis-adapters.ts';
import { benchPolicy, makeFleet } from './plan-inputs.ts';

// Small, since what a daemon reads of an ended rollout does not grow with its plan.
const collectorsEach = 20;

// As many are kept for the default `history`.
const spacingMs = 7_200_000;

/** Puts ended rollouts of a policy into a Redis, as a daemon that has run for months leaves them. */
export async function keepRollouts(
  redisUrl: string,
  { keyPrefix, policy: name }: { readonly keyPrefix: string; readonly policy: string },
  count: number,
): Promise<void> {
  const connection = makeRedisConnection({ url: redisUrl, keyPrefix }, 'worker');
  const store = aRedisStore({ commands: connection.commands, keyPrefix });
  const policy = { ...benchPolicy(), name };
  const fleet = makeFleet(collectorsEach);
  const now = Date.now();
  for (let number = count; number > 0; number -= 1) {
    const createdAt = now - number * spacingMs;
    const day = new Date(createdAt).toISOString().slice(0, 10).replaceAll('-', '');
    const id = `${policy.name}-${day}-${await store.nextRolloutNumber(policy.name, day)}`;
    const plan = makePlan(policy, '19.506-1', fleet, id);
    const { rollout, upgrades, groups } = freezePlan(plan, {
      id,
      policy,
      startedBy: 'bench',
      createdAt,
      fleet,
    });
    const endedAt = createdAt + 600_000;
    await store.freeze({
      rollout,
      upgrades: upgrades.map((each) => ended(each, endedAt)),
      groups,
      events: [],
    });
    const over = { ...rollout, state: 'succeeded' as const, endedAt, rev: rollout.rev + 1 };
    await store.saveRollout({ rollout: over, expectedRev: rollout.rev, events: [], brake: 'keep' }, null);
  }
  await connection.close();
}

function ended(upgrade: Upgrade, endedAt: number): Upgrade {
  const reason = { kind: 'returned', late: false } as const;
  return { ...upgrade, progress: { state: 'succeeded', endedAt, reason, weight: 0, lost: false } };
}
