import { describe, expect, it } from 'vitest';
import { makeStartPolicy, type StartResult } from '../../../../src/orchestrator/operations/start-policy.ts';
import { changeRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import {
  aFleet,
  aFleetService,
  aPolicy,
  because,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';

const policy = aPolicy();
const { name } = policy;

function setUp() {
  const fleet = { size: 3 };
  const store = makeMemoryRolloutStore();
  const parts = {
    ...quietParts,
    store,
    scans: makeMemoryScanBook(),
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({
      listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
      readFleet: async () => ({ ok: true, value: aFleet(fleet.size) }),
    }),
    forecast: () => [],
    memory: { check: async () => 'store', refusal: () => undefined },
    rollouts: [policy],
    rolloutStatus: async (id: string) => aRolloutStatus({ id }),
  };
  const { previewStart, start } = makeStartPolicy(parts);
  const preview = async () => {
    const result = await previewStart(name);
    if (result.kind !== 'planned') throw new Error(result.reason);
    return result.preview;
  };
  const begin = (planHash: string) => start({ policy: name, planHash, by: 'ann', reason: 'now' });
  const abort = async ({ status }: Extract<StartResult, { kind: 'started' }>) => {
    const aborted = { kind: 'aborted', at: startedAt, reason: because('') } as const;
    await changeRollout(parts, status.id, 'ann', () => aborted);
    await changeRollout(parts, status.id, 'ann', () => ({ kind: 'closed', at: startedAt }));
  };
  return { fleet, store, parts, preview, previewStart, start, begin, abort };
}

function started(result: StartResult): Extract<StartResult, { kind: 'started' }> {
  if (result.kind !== 'started') throw new Error(result.reason);
  return result;
}

describe('a start by an operator (P15)', () => {
  it('begins the plan that was shown, in the name of who asked', async () => {
    const { preview, begin, store } = setUp();
    const shown = await preview();
    expect(shown).toMatchObject({ targetBuild, planned: 3, waves: [{ size: 3 }], window: { isOpen: true } });
    expect(await store.listRollouts([name])).toEqual([]);
    const { status } = started(await begin(shown.planHash));
    expect(await store.readEvents(status.id, { limit: 1 })).toMatchObject([
      { event: 'rollout.planned', by: 'ann', reason: expect.stringMatching(/; now$/) },
    ]);
  });

  it('is refused with what it would be now, where that is another plan', async () => {
    const { preview, begin, fleet, store } = setUp();
    const { planHash } = await preview();
    fleet.size = 4;
    const { planHash: present } = await preview();
    expect(await begin(planHash)).toMatchObject({
      kind: 'refused',
      reason: `the plan is not ${planHash} any more; now it is plan ${present}: 4 collectors to ${targetBuild} (rest 4)`,
    });
    expect(await store.listRollouts([name])).toEqual([]);
  });

  it('is refused while a rollout is on its way, and where there is nothing to do', async () => {
    const { preview, begin, previewStart, start } = setUp();
    const { planHash } = await preview();
    await begin(planHash);
    for (const again of [await begin(planHash), await previewStart(name)])
      expect(again).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('is still on its way'),
      });
    const nobody = setUp();
    nobody.fleet.size = 0;
    expect(await nobody.previewStart(name)).toMatchObject({ kind: 'refused' });
    expect(await start({ policy: 'producton', planHash, by: 'ann', reason: '' })).toMatchObject({
      kind: 'unknownPolicy',
      reason: 'no policy is called producton; did you mean production?',
    });
  });
});
