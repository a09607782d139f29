import { describe, expect, it } from 'vitest';
import { makeStartPolicy } from '../../../../src/orchestrator/operations/start-policy.ts';
import { aFleet, aPolicy, startedAt, targetBuild } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';
import { aHouse, over, save, serving } from '../../../support/house.ts';
import { changeTo, saveUpgrade } from '../../../support/store/store-changes.ts';

const policy = 'production';

async function setUp(size = 3, changes: Parameters<typeof aRolloutStatus>[0] = {}) {
  const fleet = { size };
  const { parts, store } = await aHouse({ rollout: null, fleet: serving(() => aFleet(fleet.size)) });
  const { previewStart, start } = makeStartPolicy({
    ...parts,
    rolloutStatus: async (id: string) => aRolloutStatus({ id, ...changes }),
  });
  const preview = async () => {
    const result = await previewStart(policy);
    if (result.kind !== 'planned') throw new Error(result.reason);
    return result.preview;
  };
  const begin = (planHash: string) => start({ policy, planHash, by: 'ann', reason: 'now' });
  return { fleet, store, preview, previewStart, start, begin };
}

describe('a start by an operator (P15)', () => {
  it("starts the plan that was shown, in the operator's name", async () => {
    const { preview, begin, store } = await setUp();
    const shown = await preview();
    expect(shown).toMatchObject({ targetBuild, planned: 3, waves: [{ size: 3 }], window: { isOpen: true } });
    expect(await store.listRollouts([policy])).toEqual([]);
    expect(await begin(shown.planHash)).toMatchObject({ kind: 'started' });
    const [rollout] = await store.listRollouts([policy]);
    expect(rollout?.reason).toEqual({ kind: 'asked', by: 'ann', words: 'now' });
    expect(await store.readEvents(rollout?.id ?? '', { limit: 1 })).toMatchObject([
      { event: 'rollout.planned', by: 'ann', reason: expect.stringMatching(/; now$/) },
    ]);
  });

  it('is shown with its limits and how long it takes', async () => {
    const { concurrency, estimate, waves } = await (await setUp()).preview();
    expect({ concurrency, waves }).toMatchObject({
      concurrency: aPolicy().concurrency,
      waves: [{ soakMs: 0 }],
    });
    expect(estimate.durationMs).toBeGreaterThan(0);
    expect(estimate.requests).toBeGreaterThan(3);
  });

  it('is shown with the rollout to the same build that was given up before', async () => {
    const { preview, begin, store } = await setUp();
    const shown = await preview();
    expect(shown.earlier).toBeNull();
    await begin(shown.planHash);
    const [rollout] = await store.listRollouts([policy]);
    if (rollout === undefined) throw new Error('no rollout');
    const reason = { kind: 'asked', by: 'ann', words: 'CHG-9' } as const;
    await save(store, rollout, { state: 'aborted', endedAt: rollout.createdAt, reason });
    expect((await preview()).earlier).toMatchObject({
      ...{ rollout: rollout.id, state: 'aborted', reason: expect.stringContaining('CHG-9') },
    });
  });

  it('is shown with how many of its collectors failed before on the same build', async () => {
    const { preview, begin, store } = await setUp();
    const shown = await preview();
    expect(shown.failedBefore).toBe(0);
    await begin(shown.planHash);
    const [rollout] = await store.listRollouts([policy]);
    if (rollout === undefined) throw new Error('no rollout');
    const [upgrade] = await store.listUpgrades(rollout.id, { offset: 0, limit: 1 });
    if (upgrade === undefined) throw new Error('no upgrade');
    await saveUpgrade(store, changeTo(upgrade, over('failed')));
    await save(store, rollout, { state: 'finishedWithFailures', endedAt: rollout.createdAt });
    expect(await preview()).toMatchObject({ planned: 3, failedBefore: 1 });
    // It was retried, and withdrawn by the abort before its retry.
    const tasks = [{ taskId: '7', startedAt, ended: { at: startedAt, state: 'failed' } }] as const;
    const withdrawn = changeTo(upgrade, over('withdrawn'));
    const { after } = withdrawn;
    await saveUpgrade(store, { ...withdrawn, after: { ...after, tally: { ...after.tally, tasks } } });
    expect(await preview()).toMatchObject({ planned: 3, failedBefore: 1 });
  });

  it('is refused when the plan has changed, and names the present plan', async () => {
    const { preview, begin, fleet, store } = await setUp();
    const { planHash } = await preview();
    fleet.size = 4;
    const { planHash: present } = await preview();
    expect(await begin(planHash)).toMatchObject({
      kind: 'refused',
      reason: `the plan is no longer ${planHash}; it is now plan ${present}: 4 collectors to ${targetBuild} (rest 4)`,
    });
    expect(await store.listRollouts([policy])).toEqual([]);
  });

  it('is refused while a rollout is active, and when there is nothing to upgrade', async () => {
    const { preview, begin, previewStart, start } = await setUp();
    const { planHash } = await preview();
    await begin(planHash);
    const reason = expect.stringMatching(
      /^(\S+) has not ended; new collectors join it .*, or end it: upwave abort \1$/,
    );
    expect(await begin(planHash)).toMatchObject({ kind: 'refused', reason });
    expect(await previewStart(policy)).toMatchObject({ kind: 'refused', reason });
    expect(await (await setUp(0)).previewStart(policy)).toMatchObject({ kind: 'refused' });
    expect(await start({ policy: 'producton', planHash, by: 'ann', reason: '' })).toMatchObject({
      kind: 'unknownPolicy',
      reason: 'there is no policy producton; did you mean production?',
    });
  });

  it.each([
    [
      { state: 'rollingBack', rollbackId: 'b-2' },
      /^(\S+) is rolling back \(by b-2\); .*: upwave status b-2$/,
    ],
    [{ state: 'rollingBack' }, /^(\S+) is rolling back; .*: upwave status \1$/],
    [{ kind: 'rollback', rollbackOf: 'a-1' }, /^(\S+) is rolling back a-1; .*: upwave status \1$/],
  ] as const)('asks to wait for a rollback, and not to end it: %j', async (changes, reason) => {
    const { preview, begin, previewStart } = await setUp(3, changes);
    await begin((await preview()).planHash);
    const refused = { kind: 'refused', reason: expect.stringMatching(reason) };
    expect(await previewStart(policy)).toMatchObject(refused);
  });
});
