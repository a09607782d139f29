import { describe, expect, it } from 'vitest';
import { makeLocalApiBudget } from '../../../src/daemon/api-budgets.ts';
import { PausedTooLong } from '../../../src/orchestrator/ports/api-budget.ts';
import { outageReasons } from '../../../src/rollout/status/api-budget-status.ts';

describe('the API budget of one command', () => {
  it('pauses longer each time, unless the service asks for more, until a success', async () => {
    const budget = makeLocalApiBudget(4);
    const pause = (forMs: number) => budget.pause({ forMs, single: false });
    const lastsMs: number[] = [];
    for (const forMs of [0, 0, 30_000, 0, 0, 0, 0, 0]) lastsMs.push((await pause(forMs)) / 1_000);
    expect(lastsMs).toEqual([1, 2, 30, 8, 16, 32, 60, 60]);
    await budget.succeeded();
    expect(await pause(0)).toBe(1_000);
  });

  it('reports a noticeable wait once a pause, with its reason', async () => {
    const reported: string[] = [];
    const budget = makeLocalApiBudget(1_000, ({ waitMs, reason }) => {
      reported.push(`${Math.round(waitMs / 1_000)} ${reason}`);
    });
    // Who waits gives up at once; the pause goes on.
    const wait = async () => {
      await expect(budget.take('operator', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    };
    await budget.pause({ forMs: 1_900, single: false });
    await wait();
    expect(reported).toEqual([]);
    await budget.pause({ forMs: 25_000, single: false });
    for (const _time of ['first', 'second']) await wait();
    expect(reported).toEqual(['25 the service asked for a pause']);
    await budget.pause({ forMs: 60_000, single: true });
    await wait();
    expect(reported.slice(1)).toEqual([`60 ${outageReasons.signInThrottled}`]);
  });

  it('fails every request at once when a pause is too long for a person', async () => {
    const budget = makeLocalApiBudget(4);
    await budget.pause({ forMs: 3_600_000, single: false });
    for (const _time of ['first', 'second']) {
      const taking = budget.take('operator');
      await expect(taking).rejects.toThrow(PausedTooLong);
      await expect(taking).rejects.toThrow('60 minutes');
    }
  });
});
