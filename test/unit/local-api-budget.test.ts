import { describe, expect, it } from 'vitest';
import { makeLocalApiBudget } from '../../src/daemon/local-api-budget.ts';
import { PausedTooLong } from '../../src/orchestrator/api-budget.ts';

describe('the API budget of one command', () => {
  it('waits for a short pause', async () => {
    const budget = makeLocalApiBudget(4);
    await budget.pause({ forMs: 50, single: false });
    expect((await budget.take('operator')).waitedMs).toBeGreaterThanOrEqual(48);
  });

  it('tells at once, and to each who asks, that a pause is too long for a person', async () => {
    const budget = makeLocalApiBudget(4);
    await budget.pause({ forMs: 3_600_000, single: false });
    for (const _time of ['first', 'second']) {
      const taking = budget.take('operator');
      await expect(taking).rejects.toThrow(PausedTooLong);
      await expect(taking).rejects.toThrow('60 minutes');
    }
  });
});
