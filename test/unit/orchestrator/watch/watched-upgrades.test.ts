import { describe, expect, it } from 'vitest';
import { listWatched } from '../../../../src/orchestrator/watch/watched-upgrades.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { anUpgradingOne, aRollout, because, startedAt, targetBuild } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';
import { quietView } from '../../../support/quiet-parts.ts';
import { saveUpgrade } from '../../../support/store/store-changes.ts';
import { aVerifyingOne } from '../../../support/upgrade-cases.ts';

const minutes = 60_000;
const now = startedAt + 4 * minutes;

/** What is watched of one upgrade, after others of the second stratum have taken 20 minutes each. */
async function watchedOf(stratum: number, othersEnded: number) {
  const others = Array.from({ length: othersEnded }, (_, index) => index + 2);
  const inStratum = (upgrade: Upgrade, collectorId: number, of: number): Upgrade => ({
    ...upgrade,
    identity: { ...upgrade.identity, collectorId, order: collectorId, stratum: of },
  });
  const verifying = aVerifyingOne({ startedAt: now - 20 * minutes, verifyBy: now });
  const { store } = await aHouse({
    rollout: aRollout({ plan: { fleetSize: 1 } }),
    upgrades: [
      inStratum(anUpgradingOne({ dueAt: now + minutes }), 1, stratum),
      ...others.map((id) => inStratum(verifying, id, 1)),
    ],
  });
  for (const id of others) {
    const before = inStratum(verifying, id, 1);
    const ended = {
      state: 'succeeded',
      endedAt: now,
      reason: because('back'),
      weight: 0,
      lost: false,
    } as const;
    const after = { ...before, progress: ended, rev: before.rev + 1 };
    await saveUpgrade(store, { before, after, events: [] });
  }
  const { loads } = await listWatched({ ...quietView, store, policies: () => [aRollout().policy.name] }, now);
  const { usualMs = 0, running } = loads[0] ?? {};
  return { usualMs, endsPerMs: running?.get(targetBuild)?.endsPerMs ?? 0 };
}

describe('a watched upgrade', () => {
  it('is expected to take as long as the policy says, before any upgrade has ended', async () => {
    const { usualMs } = await watchedOf(0, 0);
    expect(usualMs / minutes).toBeGreaterThan(4.9);
    expect(usualMs / minutes).toBeLessThan(6);
  });

  it('is expected to take as long as others of its stratum, given its age', async () => {
    const slow = await watchedOf(1, 40);
    const other = await watchedOf(0, 40);
    const early = await watchedOf(1, 0);
    expect(slow.usualMs).toBeGreaterThan(15 * minutes);
    expect(slow.endsPerMs).toBeLessThan(early.endsPerMs / 5);
    // Nothing is known of its stratum but that the rollout is slow.
    expect(other.usualMs).toBeLessThan(slow.usualMs);
    expect(other.usualMs).toBeGreaterThan(early.usualMs);
  });
});
