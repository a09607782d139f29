import { describe, expect, it } from 'vitest';
import { hold } from '../../src/orchestrator/hold-things.ts';
import {
  aFleetService,
  anApiStanding,
  anUpgrade,
  aRollout,
  someGroups,
  startedAt as t,
  targetBuild,
} from '../support/builders.ts';
import { makeMemoryFleetRegister, makeMemoryRolloutStore } from '../support/memory-rollout-store.ts';
import { makeMemoryScanBook } from '../support/memory-scan-book.ts';
import { quietParts } from '../support/quiet-parts.ts';

describe('hold of a build', () => {
  it.each([
    ['what still runs', {}],
    // That hold would end by itself.
    ['what is held for evidence', { state: 'held', heldFor: { kind: 'evidence', wave: 0 } }],
  ] as const)(
    'stops %s, also when it was held before: its first holder may have died (P4)',
    async (_, changes) => {
      const store = makeMemoryRolloutStore();
      const register = makeMemoryFleetRegister();
      const rollout = aRollout(changes);
      const upgrades = [anUpgrade({ state: 'pending' })];
      await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
      await register.holdBuild({ build: targetBuild, by: 'ann', reason: 'it crashes', at: t });
      const parts = {
        ...quietParts,
        store,
        register,
        fleet: aFleetService(),
        rollouts: [],
        scans: makeMemoryScanBook(),
        forecast: () => [],
        readApiStanding: async () => anApiStanding(),
      };
      const held = await hold(parts, { subject: targetBuild, by: 'bob', reason: 'stop' });
      expect(held).toMatchObject({ kind: 'done', subject: { kind: 'build', build: targetBuild } });
      const after = await store.loadRollout(rollout.id);
      expect(after).toMatchObject({ state: 'held', reason: `build ${targetBuild} is held: it crashes` });
      expect(after?.heldFor).toBeUndefined();
      expect(await register.readAudit(5)).toEqual([]);
      const again = await hold(parts, { subject: targetBuild, by: 'bob', reason: 'stop' });
      expect(again).toMatchObject({ kind: 'unchanged' });
    },
  );
});
