import { describe, expect, it } from 'vitest';
import { changeRollout, stopRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import type { RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, because, someGroups, startedAt as t } from '../../../support/builders.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const rollout = aRollout();

/** A store that runs one rollout, and what happens to it while somebody waits for what is leaving. */
async function aStore(
  meanwhile: (parts: Awaited<ReturnType<typeof makeParts>>, turn: number) => Promise<void>,
) {
  const parts = await makeParts();
  let turns = 0;
  const countFreshIntents = async () => {
    turns += 1;
    await meanwhile(parts, turns);
    return 0;
  };
  return { ...parts, store: { ...parts.store, countFreshIntents }, turns: () => turns };
}

async function makeParts() {
  const store = makeMemoryRolloutStore(() => t);
  await store.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
  return {
    store,
    register: makeMemoryFleetRegister(),
    clock: { now: () => t },
    sink: { tell: () => undefined, note: () => undefined },
    wakeUps: { ring: () => undefined },
    sleep: async () => undefined,
  };
}

const pause = ({ rollout: { state } }: RolloutView) =>
  state === 'running' ? ({ kind: 'paused', at: t, reason: because('by ann') } as const) : undefined;
const resume = (view: RolloutView) =>
  view.rollout.state === 'paused'
    ? ({ kind: 'resumed', at: t, reason: because('by bob'), view } as const)
    : undefined;

describe('stopping a rollout (P4)', () => {
  it('is done again when Redis went back to before it, and only then answered', async () => {
    let putBack: (() => void) | undefined;
    const parts = await aStore(async (_parts, turn) => {
      if (turn === 1) putBack?.();
    });
    putBack = parts.store.keep();
    const before = await stopRollout(parts, rollout.id, 'ann', pause);
    expect(before?.rollout.state).toBe('running');
    expect((await parts.store.loadRollout(rollout.id))?.state).toBe('paused');
    expect(parts.turns()).toBe(2);
  });

  it('is done again when the one that went back has changed in another way since', async () => {
    let putBack: (() => void) | undefined;
    const parts = await aStore(async (inside, turn) => {
      if (turn > 1) return;
      putBack?.();
      const fact = { kind: 'brakeLifted', at: t } as const;
      await changeRollout(inside, rollout.id, 'daemon', () => fact);
    });
    putBack = parts.store.keep();
    await stopRollout(parts, rollout.id, 'ann', pause);
    expect((await parts.store.loadRollout(rollout.id))?.state).toBe('paused');
  });

  it('leaves what somebody else says meanwhile', async () => {
    const parts = await aStore(async (inside) => {
      await changeRollout(inside, rollout.id, 'bob', resume);
    });
    await stopRollout(parts, rollout.id, 'ann', pause);
    expect((await parts.store.loadRollout(rollout.id))?.state).toBe('running');
    expect(parts.turns()).toBe(1);
  });
});
