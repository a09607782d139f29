import { describe, expect, it, onTestFinished } from 'vitest';
import { makeSharedReading } from '../../../../src/collector-api/fleet/shared-reading.ts';

describe('makeSharedReading', () => {
  it('leaves no failure without a listener when it was given up before it began', async () => {
    const unheard: unknown[] = [];
    const listener = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', listener);
    onTestFinished(() => {
      process.off('unhandledRejection', listener);
    });
    const read = makeSharedReading(String, () => Promise.reject(new Error('Redis is away')));

    const answer = await read('19.455-2', AbortSignal.abort(new Error('stopping')));

    expect(answer).toEqual({ ok: false, failure: { kind: 'cancelled', sent: false } });
    await new Promise(setImmediate);
    expect(unheard).toEqual([]);
  });
});
