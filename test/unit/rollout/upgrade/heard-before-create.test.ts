import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { freezePlan } from '../../../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import type { CollectorObservation } from '../../../../src/rollout/upgrade/facts.ts';
import {
  aFleet,
  anUpgrade,
  aPolicy,
  aTarget,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { afterFacts, collectorSeen } from '../../../support/upgrade-cases.ts';

// The service's clock is an hour ahead of ours, and its plan's list was read two seconds after the inventory.
const ahead = 3_600_000;
const offeredAt = t + ahead + 2_000;
const heartbeatMs = 18_000;

const pending = anUpgrade({ state: 'pending' }, { eligibleAt: t, offeredAt });
const admit = (upgrade: Upgrade, at: number) =>
  afterFacts(upgrade, { kind: 'admitted', at, startBy: null, changes: 0 });

/** @param heardAt the heartbeat, by our clock */
function poll(upgrade: Upgrade, at: number, heardAt: number, changes: Partial<CollectorObservation> = {}) {
  const sighting = { lastSeenAlive: heardAt + ahead, serviceAt: at + ahead, ...changes };
  return afterFacts(upgrade, collectorSeen(sighting, at));
}

const create = { do: 'start' };
const recheck = (askUpgradable: boolean) => ({ do: 'pollCollector', why: 'recheck', askUpgradable });

describe('a create right after its plan (P1)', () => {
  it('waits for a heartbeat newer than the list, because a forgotten upgrade may just have ended', () => {
    const queued = admit(pending, t + 3_000);
    expect(nextStep(queued, t + 3_000)).toEqual({ do: 'wait', until: t + heartbeatMs });
    const at = t + heartbeatMs;
    expect(nextStep(queued, at, t)).toEqual(recheck(false));
    expect(nextStep(poll(queued, at, t + 2_001), at, t)).toEqual(create);
  });

  it('is not sent when the collector returns with the build', () => {
    const at = t + heartbeatMs;
    expect(poll(admit(pending, t), at, at, { build: targetBuild }).progress.state).toBe('verifying');
  });

  it('waits while the last heartbeat is too old, and is deferred when the collector falls silent', () => {
    const at = t + heartbeatMs;
    const still = poll(admit(pending, t), at, t + 2_000);
    expect(nextStep(still, at)).toEqual({ do: 'wait', until: at + heartbeatMs });
    expect(nextStep(still, at + heartbeatMs)).toEqual(recheck(false));
    const late = poll(still, at + heartbeatMs, t + 2_000);
    expect(late).toMatchObject({ progress: { state: 'queued', heartbeatAfter: offeredAt } });
    expect(poll(late, t + 50_000, t + 2_000)).toMatchObject({
      progress: { state: 'deferred', condition: 'notAlive' },
    });
  });

  it('is not sent after a row from before the plan that heard a silent collector', () => {
    // Redis was emptied since, and with it the record of a task that has just ended.
    const silent = anUpgrade({ state: 'pending' }, { eligibleAt: 0, offeredAt });
    const heard = {
      build: oldBuild,
      alive: true,
      lastSeenAlive: t + ahead - 10_000,
      serviceAt: t + ahead - 5_000,
    };
    const seen = { ...heard, at: t - 5_000, offered: { at: t - 40_000, offeredAt: t + ahead - 39_000 } };
    const admitted = { kind: 'admitted', at: t + 3_000, startBy: null, changes: 0, seen } as const;
    const queued = afterFacts(silent, { ...admitted, trustedSince: t - 3_600_000 });
    expect(nextStep(queued, t + 3_000)).not.toEqual(create);
  });

  it('is sent without a wait when the service sends no time or no heartbeat', () => {
    const { offeredAt: _, ...identity } = pending.identity;
    const unreported = { ...pending, identity };
    expect(nextStep(admit(unreported, t), t)).toEqual(create);
    const at = t + heartbeatMs;
    expect(nextStep(poll(admit(pending, t), at, 0, { lastSeenAlive: null }), at)).toEqual(create);
  });
});

describe('a plan', () => {
  const fleet = { ...aFleet(3), offeredAt };
  const policy = aPolicy();
  const plan = makePlan(policy, targetBuild, fleet, 'production-20260302-1');
  const origin = { id: 'production-20260302-1', startedBy: 'schedule', createdAt: t, fleet, policy };

  it('stores the service time at which the list offered its upgrades', () => {
    const { upgrades } = freezePlan(plan, origin);
    expect(upgrades.map((upgrade) => upgrade.identity.offeredAt)).toEqual([offeredAt, offeredAt, offeredAt]);
    const [unreported] = freezePlan(plan, { ...origin, fleet: { ...fleet, offeredAt: null } }).upgrades;
    expect(unreported).not.toHaveProperty('identity.offeredAt');
  });

  it('has collectors above the target that the list lacks, which are polled before their create (P1)', () => {
    const none = { offeredAt, upgradableIds: new Set<number>() };
    const above = { ...aFleet(1, () => ({ build: '19.999-9' })), ...none };
    const downgrading = aPolicy({ target: aTarget({ version: targetBuild, allowDowngrade: true }) });
    const downgrade = makePlan(downgrading, targetBuild, above, origin.id);
    const [unlisted = pending] = freezePlan(downgrade, { ...origin, fleet: above }).upgrades;
    expect(unlisted.identity).toMatchObject({ eligibleAt: 0 });
    expect(unlisted).not.toHaveProperty('identity.offeredAt');
    const queued = admit(unlisted, t + 1_000);
    expect(nextStep(queued, t + 1_000, t)).toEqual(recheck(true));
    const seen = poll(queued, t + 1_000, t, { build: '19.999-9', upgradable: false });
    expect(nextStep(seen, t + 1_000, t)).toEqual(create);
    // When the plan's list had it, a list without it shows that it is in an upgrade now.
    const listed = { ...unlisted, identity: { ...unlisted.identity, offeredAt } };
    const missing = poll(admit(listed, t + 1_000), t + 1_000, t, { build: '19.999-9', upgradable: false });
    expect(missing.progress).toMatchObject({ state: 'deferred', condition: 'inUpgrade' });
  });
});

describe('a queued upgrade whose rollout is over (P9)', () => {
  const reason = { kind: 'rolloutOver', state: 'aborted' } as const;
  const stop = (upgrade: Upgrade, trustedSince?: number) =>
    afterFacts(upgrade, {
      kind: 'withdrawn',
      at: t + 60_000,
      reason,
      ...(trustedSince === undefined ? {} : { trustedSince }),
    }).progress.state;
  const waiting = admit(pending, t + 3_000);

  it('is withdrawn without the heartbeat that it waits for', () => {
    expect(stop(waiting)).toBe('withdrawn');
    expect(stop(waiting, t)).toBe('withdrawn');
  });

  it('is polled first where Redis may have lost its create (P1)', () => {
    expect(stop(waiting, t + 1)).toBe('queued');
    expect(stop(waiting, t + 90_000)).toBe('queued');
  });

  it.each([
    ['a create of it was in doubt', { ...waiting, tally: { ...waiting.tally, createsInDoubt: 1 } }],
    [
      'its create was refused',
      { ...waiting, progress: { ...waiting.progress, refused: { of: 'collector', detail: 'no' } } as const },
    ],
  ])('is polled first where %s', (_what, upgrade) => {
    expect(stop(upgrade as Upgrade)).toBe('queued');
  });
});
