import { describe, expect, it } from 'vitest';
import { checkActive } from '../../src/orchestrator/check-active.ts';
import type { DaemonNote } from '../../src/orchestrator/ports/event-sink.ts';
import type { FleetService } from '../../src/orchestrator/ports/fleet-service.ts';
import { noMemory } from '../../src/orchestrator/read-plan.ts';
import { aFleetService, aRollout, someGroups, startedAt, targetBuild } from '../support/builders.ts';
import { makeMemoryFleetRegister, makeMemoryRolloutStore } from '../support/memory-rollout-store.ts';
import { pendingOnes } from '../support/store-changes.ts';

const offered = async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }) as const;

async function notesOf(fleet: Partial<FleetService>, signal?: AbortSignal): Promise<readonly DaemonNote[]> {
  const store = makeMemoryRolloutStore(() => startedAt);
  const rollout = aRollout();
  await store.freeze({ rollout, upgrades: pendingOnes(1), groups: someGroups(), events: [] });
  const notes: DaemonNote[] = [];
  const parts = {
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService(fleet),
    clock: { now: () => startedAt },
    sink: { tell: () => undefined, note: (note: DaemonNote) => notes.push(note) },
    bell: { ring: () => undefined },
    sleep: async () => undefined,
    answerWithinMs: 35_000,
    random: () => 0.5,
  };
  await checkActive(parts, rollout.policy, rollout.id, noMemory, signal);
  return notes;
}

describe('the look after a rollout on its way', () => {
  it('says that the service did not name its builds', async () => {
    expect(await notesOf({})).toMatchObject([
      {
        event: 'look.failed',
        rollout: aRollout().id,
        reason: expect.stringMatching(/^the builds on offer: /),
      },
    ]);
  });

  it('says that the fleet could not be read, so that late joiners wait', async () => {
    expect(await notesOf({ listBuilds: offered })).toMatchObject([
      {
        event: 'look.failed',
        rollout: aRollout().id,
        reason: expect.stringMatching(/^the fleet, for late joiners: /),
      },
    ]);
  });

  it('says nothing when it was called off', async () => {
    expect(await notesOf({}, AbortSignal.abort())).toEqual([]);
    expect(await notesOf({ listBuilds: offered }, AbortSignal.abort())).toEqual([]);
  });
});
