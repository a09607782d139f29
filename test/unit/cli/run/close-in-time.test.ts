import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeInTime } from '../../../../src/cli/run/close-in-time.ts';
import type { Daemon } from '../../../../src/daemon/daemon.ts';

const never = () => new Promise<void>(() => undefined);
const atOnce = async () => undefined;

describe('a command that closes its daemon', () => {
  const exitCodeBefore = process.exitCode;
  const exits: unknown[] = [];

  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      exits.push(code);
      return undefined as never;
    });
  });
  afterEach(() => {
    process.exitCode = exitCodeBefore;
    exits.length = 0;
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const daemonThat = (close: () => Promise<void>) => ({ close }) as Daemon;

  it('continues when all is closed, and then does not wait for open handles', async () => {
    const closed: string[] = [];
    await closeInTime(
      daemonThat(async () => void closed.push('daemon')),
      async () => void closed.push('redis'),
    );
    expect(closed).toEqual(['daemon', 'redis']);
    process.exitCode = 1;
    await vi.advanceTimersByTimeAsync(999);
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(exits).toEqual([1]);
  });

  it.each([
    ['the daemon', never, atOnce],
    ['its Redis', atOnce, never],
  ])('is not blocked by hanging work, and ends with its own result: %s', async (_name, close, closeRest) => {
    // As main.ts does it with what the command came to.
    const ended = closeInTime(daemonThat(close), closeRest).then(() => {
      process.exitCode = 3;
    });
    await vi.advanceTimersByTimeAsync(9_500);
    await ended;
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(exits).toEqual([3]);
  });

  it('ends with 4 when the result is unknown', async () => {
    void closeInTime(daemonThat(never), atOnce);
    process.exitCode = undefined;
    await vi.advanceTimersByTimeAsync(10_500);
    expect(exits).toEqual([4]);
  });

  it('reports an error while closing, and ends nevertheless', async () => {
    const ended = closeInTime(
      daemonThat(async () => {
        throw new Error('a bug');
      }),
      atOnce,
    );
    await expect(ended).rejects.toThrow('a bug');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(exits).toHaveLength(1);
  });
});
