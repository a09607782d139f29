import type { DurationMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import { isRightsRefusal } from './redis-errors.ts';
import { checkRedisRights, isOptionalRight, isTriedRight, type RedisRightsParts, rightOf } from './rights.ts';

export type RightsWatch = ReturnType<typeof makeRightsWatch>;

export interface RightsWatchParts extends RedisRightsParts {
  /** In a Cluster the check asks one node only. */
  readonly isCluster: boolean;
  /** Called each time the refused rights change, while there are any. */
  readonly onRefused: (rights: readonly string[]) => void;
  readonly onGranted: () => void;
  /** Called with refused rights that upwave can work without. */
  readonly onMissing: (rights: readonly string[]) => void;
}

// A person who has just granted a right waits for it. Some fifty small commands cost Redis nothing.
const checkEveryMs: DurationMs = 5_000;

// A refusal that the check does not repeat may be of another node of a Cluster, or of an unchecked command: it counts until
// it has not occurred for this long.
const quietMs: DurationMs = 30_000;

/**
 * Tracks which rights Redis refuses to upwave's user, from a check and from all failed commands. It checks on request, after
 * a refused command, and while a needed right is refused.
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
    // Without a reply Redis is unreachable, which the connection reports.
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

  /** Checks all rights, and reports changes. Never throws: without a reply nothing is known. */
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

  /** @returns true for a refusal of rights, which is reported once */
  function learn(error: unknown): boolean {
    if (!isRightsRefusal(error)) return false;
    const right = rightOf(error, parts.keyPrefix);
    const isKnown = right === undefined ? refused.length > 0 : missing.includes(right);
    // A running check reports what it finds.
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
    /** The rights to grant, as `ACL SETUSER` takes them. */
    refused: (): readonly string[] => refused,
    close: (): void => ended.abort(),
  };
}
