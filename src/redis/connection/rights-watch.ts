import type { DurationMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import { isRightsRefusal } from './redis-errors.ts';
import { checkRedisRights, isOptionalRight, isTriedRight, type RedisRightsParts, rightOf } from './rights.ts';

export type RightsWatch = ReturnType<typeof makeRightsWatch>;

export interface RightsWatchParts extends RedisRightsParts {
  /** In a Cluster the check asks one node only. */
  readonly isCluster: boolean;
  /** Reported each time these change, while there are any. */
  readonly onRefused: (rights: readonly string[]) => void;
  readonly onGranted: () => void;
  /** Rights that work goes on without. */
  readonly onMissing: (rights: readonly string[]) => void;
}

// A person who has just granted a right waits for it; some fifty small commands cost Redis nothing.
const checkEveryMs: DurationMs = 5_000;

// A refusal that the check does not meet may be of another node of a Cluster, or of a command that it does not know: it
// stands until it was not met for so long.
const quietMs: DurationMs = 30_000;

/**
 * Knows which rights Redis refuses to our user, from a check, and from what everybody who uses Redis has met. It checks when
 * it is asked to, when a command was refused, and as long as anything needed is refused.
 */
export function makeRightsWatch(parts: RightsWatchParts) {
  const ended = new AbortController();
  const metAt = new Map<string, number>();
  let refused: readonly string[] = [];
  let missing: readonly string[] = [];
  let checking: Promise<void> | undefined;
  let isWatching = false;

  async function checkOnce(): Promise<void> {
    const since = performance.now();
    const rights = await checkRedisRights(parts).catch(() => undefined);
    // Without an answer Redis is away, which its connection reports.
    if (rights === undefined || ended.signal.aborted) return;
    for (const [right, at] of metAt) {
      const isGranted = !parts.isCluster && isTriedRight(right) && !rights.needed.includes(right);
      if (isGranted || since - at > quietMs) metAt.delete(right);
    }
    report([...new Set([...rights.needed, ...metAt.keys()])].sort(), rights.optional);
    if (refused.length > 0) void watch();
  }

  function report(needed: readonly string[], optional: readonly string[]): void {
    const before = refused;
    refused = needed;
    if (needed.length > 0 && needed.join() !== before.join()) parts.onRefused(needed);
    if (needed.length === 0 && before.length > 0) parts.onGranted();
    const newlyMissing = optional.filter((right) => !missing.includes(right));
    missing = optional;
    if (newlyMissing.length > 0) parts.onMissing(newlyMissing);
  }

  /** Tries them all, and shows what has changed. Never throws: without an answer nothing is known. */
  function check(): Promise<void> {
    checking ??= checkOnce().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    while (refused.length > 0 && !ended.signal.aborted) {
      await sleepForReal(checkEveryMs, ended.signal);
      if (!ended.signal.aborted) await check();
    }
    isWatching = false;
  }

  /** @returns true when the error is a refusal of rights: it is reported then, once for all */
  function learn(error: unknown): boolean {
    if (!isRightsRefusal(error)) return false;
    const right = rightOf(error, parts.keyPrefix);
    const isKnown = right === undefined ? refused.length > 0 : missing.includes(right);
    // A running check reports what it meets.
    if (isKnown || checking !== undefined || ended.signal.aborted) return true;
    if (right !== undefined && !isOptionalRight(right, parts.keyPrefix)) {
      const isNew = !refused.includes(right);
      if (isNew || metAt.has(right)) metAt.set(right, performance.now());
      if (!isNew) return true;
    }
    void check();
    return true;
  }

  return {
    check,
    learn,
    /** What must be granted before work goes on, as `ACL SETUSER` takes it. */
    refused: (): readonly string[] => refused,
    close: (): void => ended.abort(),
  };
}
