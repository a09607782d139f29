import { describe, expect, it } from 'vitest';
import { type LeadParts, lead } from '../../../../src/orchestrator/lead/lead.ts';

const hourMs = 3_600_000;

/** Leads for so many looks, a second each, with a clock that `tick` moves. @returns which of them delivered what is overdue */
async function looks(
  count: number,
  tick: (now: number, look: number) => number,
): Promise<readonly boolean[]> {
  const stop = new AbortController();
  const delivered: boolean[] = [];
  let now = 1_000_000_000;
  const parts: Pick<
    LeadParts,
    'store' | 'lease' | 'clock' | 'sink' | 'backgroundTasks' | 'policies' | 'sleep' | 'nextWakeUp'
  > = {
    // Nothing else of it is asked here.
    store: {
      activeRolloutIds: async () => ['production-20260302-1'],
      loadView: async (_id, { overdueBefore }) => {
        delivered.push(Number.isFinite(overdueBefore));
        return undefined;
      },
    } as Pick<LeadParts['store'], 'activeRolloutIds' | 'loadView'> as LeadParts['store'],
    lease: { hold: async () => 1, giveWay: async () => undefined, release: async () => undefined },
    clock: { now: () => now },
    sink: { tell: () => undefined, note: () => undefined },
    backgroundTasks: { run: async () => undefined },
    policies: ['production'],
    sleep: async () => {
      now = tick(now, delivered.length);
      if (delivered.length === count) stop.abort();
    },
    nextWakeUp: () => new AbortController().signal,
  };
  await lead(parts as LeadParts, stop.signal);
  return delivered;
}

/** Leads for so many looks, a second each. @returns when it gave way */
async function turns(count: number, isWaitedFor: () => Promise<boolean>): Promise<readonly number[]> {
  const stop = new AbortController();
  const gave: number[] = [];
  const beganAt = 1_000_000_000;
  let now = beganAt;
  const parts: Pick<
    LeadParts,
    | 'store'
    | 'lease'
    | 'clock'
    | 'sink'
    | 'backgroundTasks'
    | 'policies'
    | 'sleep'
    | 'nextWakeUp'
    | 'isWaitedFor'
  > = {
    // Nothing else of it is asked here.
    store: { activeRolloutIds: async () => [] } as Pick<
      LeadParts['store'],
      'activeRolloutIds'
    > as LeadParts['store'],
    lease: {
      hold: async () => 1,
      giveWay: async () => {
        gave.push(now - beganAt);
      },
      release: async () => undefined,
    },
    clock: { now: () => now },
    sink: { tell: () => undefined, note: () => undefined },
    backgroundTasks: { run: async () => undefined },
    policies: ['production'],
    sleep: async () => {
      now += 1_000;
      if (now - beganAt >= count * 1_000) stop.abort();
    },
    nextWakeUp: () => new AbortController().signal,
    isWaitedFor,
  };
  await lead(parts as LeadParts, stop.signal);
  return gave;
}

describe('the leader', () => {
  it('delivers what is overdue at once, and every two seconds', async () => {
    expect(await looks(5, (now) => now + 1_000)).toEqual([true, false, true, false, true]);
  });

  it('goes on with that when the clock is set back', async () => {
    const tick = (now: number, look: number) => now + (look === 2 ? -hourMs : 1_000);
    expect((await looks(6, tick)).slice(2)).toEqual([true, false, true, false]);
  });

  it('gives way after ten seconds to a daemon that serves what it can not, and to nobody else', async () => {
    const gave = await turns(25, async () => true);
    expect(gave).toEqual([10_000, 20_000]);
    expect(await turns(25, async () => false)).toEqual([]);
  });
});
