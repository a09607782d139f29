import type { DurationMs, EpochMs } from './time.ts';

export type RetryWindow = ReturnType<typeof makeRetryWindow>;

const firstWaitMs: DurationMs = 500;
const waitMaxMs: DurationMs = 5_000;

/**
 * Limits for how long failing requests are retried. All requests share one window, which opens with the first failure.
 * The waits between attempts are 0.5, 1, 2, 4 and 5 s.
 * @param onOpen is called with the reason, once for all windows
 */
export function makeRetryWindow(parts: {
  readonly withinMs: DurationMs;
  readonly now: () => EpochMs;
  readonly onOpen: (reason: string) => void;
}) {
  let openedAt: EpochMs | undefined;
  let waitMs = firstWaitMs;
  let isOver = false;
  let isReported = false;
  return {
    /** How long to wait before the next attempt; undefined when the window is over, and from then on. */
    failed: (reason: string): DurationMs | undefined => {
      openedAt ??= parts.now();
      const leftMs = openedAt + parts.withinMs - parts.now();
      isOver ||= leftMs <= 0;
      if (isOver) return undefined;
      if (!isReported) parts.onOpen(reason);
      isReported = true;
      const wait = Math.min(waitMs, leftMs);
      waitMs = Math.min(2 * waitMs, waitMaxMs);
      return wait;
    },
    /** Closes the window. The next failure opens a new one. */
    succeeded: (): void => {
      openedAt = undefined;
      waitMs = firstWaitMs;
    },
    /** True when the window has ended. Nothing is retried from then on. */
    isOver: (): boolean => isOver,
  };
}
