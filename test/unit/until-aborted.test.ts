import { describe, expect, it, onTestFinished } from 'vitest';
import { makeUpgradableReadings } from '../../src/collector-api/fleet/upgradable-readings.ts';

describe('a wait for what no signal reaches', () => {
  it('leaves no failure without a listener when it was given up before it began', async () => {
    const unheard: unknown[] = [];
    const listener = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', listener);
    onTestFinished(() => {
      process.off('unhandledRejection', listener);
    });
    const readings = makeUpgradableReadings({ now: () => 0 }, () =>
      Promise.reject(new Error('Redis is away')),
    );

    const asked = readings.ask('19.455-2', false, AbortSignal.abort(new Error('stopping')));

    await expect(asked).rejects.toThrow('stopping');
    await new Promise(setImmediate);
    expect(unheard).toEqual([]);
  });
});
