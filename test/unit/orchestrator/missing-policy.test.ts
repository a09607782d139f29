import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../src/orchestrator/lead/reconcile.ts';
import { makePolicyClaims } from '../../../src/orchestrator/records/policy-claims.ts';
import { scan } from '../../../src/orchestrator/scan/scan.ts';
import { runStep } from '../../../src/orchestrator/step/run-step.ts';
import { scanText } from '../../../src/rollout/messages/scans.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { reserving } from '../../support/builders/service-builders.ts';
import {
  aFleet,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  aWave,
  because,
  startedAt as t,
} from '../../support/builders.ts';
import { aHouse, freeze, serving } from '../../support/house.ts';
import { quietLead } from '../../support/quiet-parts.ts';
import { aQueuedOne } from '../../support/upgrade-cases.ts';

const unaborted = new AbortController().signal;
const former = aPolicy({ name: 'former' });
const policy = aPolicy();
const formerId = 'former-20260302-1';
const living = { living: () => ({ others: [] }) };

/** A daemon whose config has `production`. The rollout of `former`, which no config has, has these upgrades. */
async function aDaemonAfterRename(upgrades: readonly Upgrade[]) {
  const house = await aHouse({ rollout: null, fleet: serving(() => aFleet(10)) });
  const policies = () => ['production'];
  const { scans, clock, store } = house.parts;
  await scans.note({ policy: 'former', outcome: 'started', at: 0, reason: '', overdueAt: 0 });
  const waves = [aWave({ state: 'open', size: upgrades.length })];
  const rollout = aRollout({ id: formerId, policy: former, waves });
  await freeze(store, rollout, upgrades);
  const claims = makePolicyClaims({ scans, clock, policies, configs: living });
  const parts = { ...house.parts, ...quietLead, policies, claims };
  return { ...house, parts, rollout };
}

function formerOnes(...progresses: readonly Upgrade['progress'][]): readonly Upgrade[] {
  return progresses.map((progress, index) =>
    anUpgrade(progress, { rolloutId: formerId, collectorId: index + 1, order: index + 1 }),
  );
}

const { progress: upgrading } = anUpgradingOne();
const { progress: queued } = aQueuedOne();

describe('a policy that was renamed while its rollout runs', () => {
  it('is planned when the running upgrades of the former name have ended, not beside them (P1, P2)', async () => {
    const upgrades = formerOnes(upgrading, upgrading, { state: 'pending' });
    const { parts, store, clock } = await aDaemonAfterRename(upgrades);
    const result = await scan(parts, policy, 'schedule');
    expect(result).toMatchObject({
      kind: 'failed',
      why: { kind: 'stillRunning', rolloutId: formerId, running: 2 },
    });
    expect(scanText(result)).toMatch(/still upgrading 2 collectors .* upwave abort former-20260302-1/);

    clock.at += 60_000;
    const ended = { state: 'failed', endedAt: t, reason: because(''), weight: 1, lost: false } as const;
    const changes = upgrades.slice(0, 2).map((before) => {
      return { before, after: { ...before, progress: ended, rev: 2 }, events: [], brakeAbove: null };
    });
    await store.saveUpgrades(formerId, changes, {});
    // Those that waited under the former name, and those that failed there, belong to the new one.
    expect(await scan(parts, policy, 'schedule')).toMatchObject({ kind: 'started', planned: 10 });
  });

  it('sends no create that is still queued under the former name (P1, P2)', async () => {
    const { parts, store } = await aDaemonAfterRename(formerOnes(queued));
    await runStep(parts, { rolloutId: formerId, collectorId: 1 }, unaborted);
    const reason = { kind: 'policyMissing', policy: 'former' };
    const { upgrades } = await store.loadUpgrades(formerId, [1]);
    expect(upgrades).toMatchObject([{ progress: { state: 'pending', reason } }]);
  });

  it('sends no create that waits for the request rate when the policy is renamed (P1, P2)', async () => {
    const { parts, store } = await aDaemonAfterRename(formerOnes(queued));
    let policy = 'former';
    const claims = makePolicyClaims({ ...parts, policies: () => [policy], configs: living });
    const sent: number[] = [];
    const reserveCreate = reserving(
      async () => {
        sent.push(1);
        return { ok: true, value: { taskId: '7' } };
      },
      () => {
        policy = 'production';
      },
    );
    const fleet = { ...parts.fleet, reserveCreate };
    await runStep({ ...parts, claims, fleet }, { rolloutId: formerId, collectorId: 1 }, unaborted);
    expect(sent).toEqual([]);
    const { upgrades } = await store.loadUpgrades(formerId, [1]);
    expect(upgrades[0]?.progress.state).toBe('pending');
  });

  it('delivers a lost step of a running upgrade, and admits nobody (P2, P11)', async () => {
    const { parts, store, clock } = await aDaemonAfterRename(formerOnes(upgrading, { state: 'pending' }));
    const delivered: number[] = [];
    const queue = {
      ...parts.queue,
      bringForward: async (_id: string, ids: readonly number[]) => void delivered.push(...ids),
    };
    clock.at += 3_600_000;
    await reconcile({ ...parts, queue }, formerId, 1, 1_000);
    expect(delivered).toEqual([1]);
    const { upgrades } = await store.loadUpgrades(formerId, [2]);
    expect(upgrades[0]?.progress.state).toBe('pending');
  });
});

it('of two rollouts that start one collector at the same moment, one at most sends its create (P1)', async () => {
  const { parts, store } = await aHouse({ rollout: null });
  const ids = [formerId, aRollout().id];
  for (const [index, id] of ids.entries()) {
    const upgrade = anUpgrade(queued, { rolloutId: id, collectorId: 1 });
    await freeze(store, aRollout({ id, policy: index === 0 ? former : policy }), [upgrade]);
  }
  const sent: string[] = [];
  // Neither stores its intent before both have read the other's record.
  let arrived = 0;
  let release = (): void => undefined;
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fleetOf = (id: string) => ({
    ...parts.fleet,
    reserveCreate: reserving(
      async () => {
        sent.push(id);
        return { ok: true, value: { taskId: id } };
      },
      async () => {
        arrived += 1;
        if (arrived === ids.length) release();
        await both;
      },
    ),
  });
  const claims = { names: async () => ['former', 'production'], isMissing: () => false };
  await Promise.all(
    ids.map((id) =>
      runStep({ ...parts, claims, fleet: fleetOf(id) }, { rolloutId: id, collectorId: 1 }, unaborted),
    ),
  );
  expect(sent.length).toBeLessThanOrEqual(1);
});
