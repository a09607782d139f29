import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeSharedReading } from '../../../../src/collector-api/fleet/shared-reading.ts';
import type { Answer } from '../../../../src/orchestrator/ports/fleet-service.ts';

describe('makeSharedReading', () => {
  it('is one for those who ask before its request leaves, and another for who asks while it is in flight', async () => {
    const readings: Array<{ start: () => void; end: (value: number) => void }> = [];
    const read = makeSharedReading(
      String,
      (_wanted: string, start) =>
        new Promise<Answer<number>>((resolve) => {
          readings.push({ start, end: (value) => resolve({ ok: true, value }) });
        }),
    );
    const together = [read('19.455-2'), read('19.455-2')];
    await vi.waitFor(() => expect(readings).toHaveLength(1));
    readings[0]?.start();
    const later = [read('19.455-2'), read('19.455-2')];
    readings[0]?.end(1);
    await vi.waitFor(() => expect(readings).toHaveLength(2));
    readings[1]?.end(2);
    const answers = await Promise.all([...together, ...later]);
    expect(answers.map((answer) => answer.ok && answer.value)).toEqual([1, 1, 2, 2]);
  });

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
