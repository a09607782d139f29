import type { DurationMs, EpochMs } from './time.ts';

export type RetryWindow = ReturnType<typeof makeRetryWindow>;

const firstWaitMs: DurationMs = 500;
const waitMaxMs: DurationMs = 5_000;

/**
 * How long something that fails is tried again, as one window over all that is tried. It opens with the first failure,
 * and then waits 0.5, 1, 2, 4 and 5 s between attempts.
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
    /** The next failure opens a new window. */
    succeeded: (): void => {
      openedAt = undefined;
      waitMs = firstWaitMs;
    },
    /** True after the end of the window: nothing is retried any more. */
    isOver: (): boolean => isOver,
  };
}
