import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { holdSubjects, releaseSubjects } from '../../../../src/orchestrator/operations/change-holds.ts';
import { makeSharedAttributes } from '../../../../src/orchestrator/records/shared-attributes.ts';
import { addLateJoiners } from '../../../../src/orchestrator/scan/late-joiners.ts';
import { noMemory } from '../../../../src/orchestrator/scan/read-plan.ts';
import type { MemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import { rolloutReasonText } from '../../../../src/rollout/messages/rollout-reasons.ts';
import type { Isolation } from '../../../../src/rollout/model/policy.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { aFleet, aPolicy } from '../../../support/builders.ts';
import { aHouse, answering } from '../../../support/house.ts';
import { lossless } from '../../../support/lossless.ts';
import { frozenFor } from '../../../support/planned-fleet.ts';
import { quietLead } from '../../../support/quiet-parts.ts';
import { ended, saveUpgrade } from '../../../support/store/store-changes.ts';

const id = 'production-20260302-1';
const by = { by: 'ann', reason: 'a bad switch' };
const subject = 'fields.rack=r1';
const fleet = (size: number) =>
  aFleet(size, (each) => ({
    osName: each % 2 === 0 ? 'Linux' : 'Windows',
    fields: { rack: `r${each % 5}` },
  }));

/** A rollout of sixty in five racks, all of them admissible at once. */
async function begin(isolate: Isolation = 'strata') {
  const policy = aPolicy({ spreadBy: ['osName'], concurrency: 100, isolate });
  const { parts: quiet, store } = await aHouse({
    rollout: null,
    fleet: { readFleet: answering(fleet(65)) },
  });
  await store.freeze({ ...frozenFor(policy, fleet(60), id), events: [] });
  const parts = {
    ...quiet,
    ...quietLead,
    rollouts: () => [policy],
    sharedAttributes: makeSharedAttributes(),
  };
  const lead = async (changed: Partial<MemoryRolloutStore> = {}) => {
    const given = { ...parts, store: { ...store, ...changed } };
    // What a background task saves wakes the leader.
    for (let pass = 0; pass < 5; pass += 1) await reconcile(given, id, 1, Number.POSITIVE_INFINITY);
  };
  const all = () => store.listUpgrades(id, { offset: 0, limit: 100 });
  const pending = async () =>
    (await all())
      .filter(({ progress }) => progress.state === 'pending')
      .map((each) => each.identity.collectorId);
  return { parts, store, policy, lead, all, pending };
}

const rackOne = Array.from({ length: 12 }, (_, index) => 5 * index + 1);

describe('collectors that are held by a shared attribute', () => {
  it('do not start, in any stratum, and the others do; once released, they start', async () => {
    const { parts, store, lead, pending } = await begin();
    expect(await holdSubjects(parts, { subject, ...by })).toMatchObject({ kind: 'done' });
    await lead();
    expect((await pending()).toSorted((a, b) => a - b)).toEqual(rackOne);
    const held = (await store.loadRollout(id))?.strata.held;
    expect(held).toMatchObject([{ label: subject, stratum: 2, by: 'ann' }]);
    expect(held?.[0]).not.toHaveProperty('unmoved');
    expect((await store.loadGroups(id))?.strata.map(({ sizes }) => sizes[0])).toEqual([24, 24, 12]);
    await releaseSubjects(parts, { subject, ...by });
    await lead();
    expect(await pending()).toEqual([]);
  });

  it('stop all creates while their attributes cannot be read (P14)', async () => {
    const { parts, lead, pending } = await begin();
    await holdSubjects(parts, { subject, ...by });
    await lead({ loadAttributes: async () => undefined });
    expect(await pending()).toHaveLength(60);
    await lead();
    expect(await pending()).toHaveLength(12);
  });

  it('are moved to their own stratum although a record changes meanwhile', async () => {
    const { parts, store, lead, pending } = await begin();
    await holdSubjects(parts, { subject, ...by });
    let writes = 0;
    await lead({
      saveUpgrades: (rolloutId, changes, guard) => {
        writes += 1;
        return store.saveUpgrades(rolloutId, writes === 1 ? changes.slice(1) : changes, guard);
      },
    });
    expect((await pending()).toSorted((a, b) => a - b)).toEqual(rackOne);
    expect(writes).toBe(2);
  });

  it('are held before anything starts where they were held for all rollouts while the plan was made (P4)', async () => {
    const { parts, lead, pending } = await begin();
    const attributes = [{ key: 'fields.rack', value: 'r1' }];
    await parts.register.holdGroup({ label: subject, attributes, ...by, at: parts.clock.now() });
    await lead();
    expect((await pending()).toSorted((a, b) => a - b)).toEqual(rackOne);
    // The audit names the operator, whichever daemon carried the hold into the rollout.
    const entry = { event: 'stratum.held', subject: `${subject} of ${id}`, by: by.by, reason: by.reason };
    expect(await parts.register.readAudit(5)).toMatchObject([entry]);
  });

  it('are also held when they join later', async () => {
    const { parts, policy, store, lead, pending } = await begin();
    await holdSubjects(parts, { subject, ...by });
    await lead();
    const rollout = lossless(await store.loadRollout(id));
    await addLateJoiners(parts, policy, rollout, noMemory);
    await lead();
    expect((await pending()).toSorted((a, b) => a - b)).toEqual([...rackOne, 61]);
  });

  it('are held with a note, and with what is near, when no collector of a running rollout belongs to them', async () => {
    const { parts, store, lead, pending } = await begin();
    expect(await holdSubjects(parts, { subject: 'fields.rac=r1', ...by })).toMatchObject({
      kind: 'done',
      subject: { kind: 'group' },
      note: { kind: 'groupEmpty', nearest: ['fields.rack=r1'] },
    });
    await lead();
    expect(await pending()).toEqual([]);
    // No empty stratum is shown, nor asked about again.
    expect((await store.loadRollout(id))?.strata).toMatchObject({ held: [], emptyGroups: ['fields.rac=r1'] });
  });

  it('are held by the daemon when the attribute explains the failures', async () => {
    const { parts, store, lead, all } = await begin('attributes');
    await lead();
    const isBad = ({ identity }: Upgrade) => identity.collectorId % 5 === 1;
    // One of them still runs.
    const others = (await all()).filter(isBad).slice(1);
    const well = (await all()).filter((each) => !isBad(each));
    for (const each of well) await saveUpgrade(store, ended(each, 'succeeded', 0));
    for (const each of others) await saveUpgrade(store, ended(each, 'failed', 1));
    await lead();
    expect((await store.loadRollout(id))?.strata.held).toMatchObject([
      {
        label: subject,
        by: 'daemon',
        reason: { kind: 'outlier', failed: 11, tried: 11, elsewhere: { failed: 0, tried: 48 } },
      },
    ]);
    const reason = '11 of 11 failed, 0 of 48 elsewhere';
    const entry = { event: 'stratum.held', subject: `${subject} of ${id}`, by: 'daemon', reason };
    expect(await parts.register.readAudit(5)).toMatchObject([entry]);
  });

  it('are named in the reason when the whole rollout is held instead', async () => {
    const { parts, store, lead, all } = await begin();
    await lead();
    for (const each of await all()) {
      const isBad = each.identity.collectorId % 5 === 1;
      await saveUpgrade(store, ended(each, isBad ? 'failed' : 'succeeded', isBad ? 1 : 0));
    }
    await lead();
    const rollout = await store.loadRollout(id);
    expect(rollout?.state).toBe('held');
    expect(rollout && rolloutReasonText(rollout.reason)).toContain(
      'all 12 failures have fields.rack=r1 (12 of 12 there, 0 of 48 elsewhere)',
    );
    const [newest] = await parts.register.readAudit(1);
    const reason = rollout && rolloutReasonText(rollout.reason);
    expect(newest).toMatchObject({ event: 'rollout.held', subject: id, by: 'daemon', reason });
  });

  it('keep a lane for their stratum, because caps and windows still apply', async () => {
    const { parts, store, lead } = await begin();
    await holdSubjects(parts, { subject, ...by });
    await lead();
    const groups = await store.loadGroups(id);
    const { upgrades } = await store.loadUpgrades(id, rackOne);
    for (const { identity } of upgrades) expect(groups?.lanes[identity.lane]?.stratum).toBe(2);
  });
});
