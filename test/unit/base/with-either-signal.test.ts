import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withEitherSignal } from '../../../src/base/waiting.ts';

describe('withEitherSignal', () => {
  it.each([0, 1])('fires with the reason of the first one to fire (%i)', async (which) => {
    const controllers = [new AbortController(), new AbortController()];
    const signals = controllers.map(({ signal }) => signal);
    const reason = await withEitherSignal([...signals, undefined], async (signal) => {
      expect(signal.aborted).toBe(false);
      controllers[which]?.abort('enough');
      return signal.reason;
    });
    expect(reason).toBe('enough');
  });

  it('passes on a signal that has already fired', async () => {
    const gone = AbortSignal.abort('long ago');
    await withEitherSignal([new AbortController().signal, gone], async (signal) => {
      expect(signal.reason).toBe('long ago');
    });
  });

  it('leaves nothing behind at a long-lived signal, whether the work succeeds or fails', async () => {
    const { signal } = new AbortController();
    const seen: number[] = [];
    await withEitherSignal([signal], async () => seen.push(getEventListeners(signal, 'abort').length));
    await withEitherSignal([signal], () => Promise.reject(new Error('went wrong'))).catch(() => undefined);
    seen.push(getEventListeners(signal, 'abort').length);
    expect(seen).toEqual([1, 0]);
  });

  it('causes no warning while many wait under one signal', async () => {
    const { signal } = new AbortController();
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.name);
    process.on('warning', hear);
    const waits = Array.from({ length: 50 }, () => withEitherSignal([signal], () => setImmediate()));
    await Promise.all(waits);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});
