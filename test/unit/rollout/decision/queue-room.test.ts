import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../src/rollout/decision/decision.ts';
import { limitQueued } from '../../../../src/rollout/decision/queue-room.ts';
import { aViewOf } from '../../../support/view-cases.ts';

const requestsPerSecond = 4;

/** How many of those that could start are admitted beside so many that are queued. */
function admitted(wanted: number, queued: number): number {
  const picks = Array.from({ length: wanted }, (_, collectorId) => ({ collectorId, startBy: null }));
  const others = [{ do: 'liftBrake' }, { do: 'deliver', collectorIds: [1] }] as const;
  const decision: Decision = {
    actions: [others[0], ...(wanted > 0 ? [{ do: 'admit', picks, slots: 9 } as const] : []), others[1]],
    blockers: [],
    wakeAt: 7,
  };
  const limited = limitQueued(decision, aViewOf({ waves: [{ counts: { queued } }] }), requestsPerSecond);
  expect(limited).toMatchObject({ blockers: [], wakeAt: 7 });
  expect(limited.actions.filter((action) => action.do !== 'admit')).toEqual(others);
  const [admit] = limited.actions.filter((action) => action.do === 'admit');
  expect(admit?.picks.length).not.toBe(0);
  return admit?.picks.length ?? 0;
}

/** Starts per minute of each policy, which share the rate first come, first served, once they have run for a while. */
function startsPerMinute(slots: readonly number[], upgradeMs: number): readonly number[] {
  const line: number[] = [];
  const running = slots.map((): number[] => []);
  const starts = slots.map(() => 0);
  for (let second = 0; second < 7_200; second += 1) {
    for (const [policy, slotsOf] of slots.entries()) {
      const own = running[policy] ?? [];
      while (own.length > 0 && (own[0] ?? 0) <= second) own.shift();
      const queued = line.filter((each) => each === policy).length;
      const free = slotsOf - own.length - queued;
      for (let left = admitted(Math.max(0, free), queued); left > 0; left -= 1) line.push(policy);
    }
    // Half of the requests poll.
    for (const policy of line.splice(0, requestsPerSecond / 2)) {
      running[policy]?.push(second + upgradeMs / 1_000);
      if (second >= 3_600) starts[policy] = (starts[policy] ?? 0) + 1;
    }
  }
  return starts.map((count) => count / 60);
}

describe('the number of upgrades that wait for the request rate', () => {
  it('is bounded by the creates of a minute, and at least fifty', () => {
    expect(admitted(1_000, 0)).toBe(240);
    expect(admitted(1_000, 200)).toBe(40);
    expect(admitted(30, 200)).toBe(30);
    expect(admitted(30, 240)).toBe(0);
    expect(admitted(30, 900)).toBe(0);
  });

  it('leaves a policy with few slots most of its pace beside one with thousands, and uses the whole rate', () => {
    const upgradeMs = 420_000;
    const [alone = 0] = startsPerMinute([10], upgradeMs);
    const [many = 0, few = 0] = startsPerMinute([5_000, 10], upgradeMs);
    expect(few / alone).toBeGreaterThan(0.7);
    expect(many + few).toBeCloseTo((requestsPerSecond / 2) * 60, 0);
  });
});
