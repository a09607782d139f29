import type { EpochMs } from '../../base/time.ts';
import type { WatchedUpgrade } from './watched-upgrades.ts';

// Nearly every hint of a list that leaves out running upgrades is right. Of one that has them, hardly any.
const resultsMax = 9;
const rightShareMin = 1 / 3;

// Without credit, one hint in this time is followed, which shows whether lists have changed.
const probeShare = 1 / 4;

// The next probe is one of another task.
const probeAgainShare = 1 / 2;

// Without credit no list shows a failure. A task that runs this many times as long as usual is polled once.
const longTimes = 3;

/** A hint whose poll has not been judged yet. */
interface Followed {
  readonly at: EpochMs;
  readonly startedAt: EpochMs;
}

/**
 * Judges hints by what their polls show. The specification does not promise that upgradable lists leave out collectors with a
 * running task (field-facts.md, The wire), and the presence of a collector says nothing where they do not.
 */
export function makeHintCredit() {
  const followed = new Map<number, Followed>();
  const results: boolean[] = [];
  let probedAt: EpochMs = Number.NEGATIVE_INFINITY;
  const rightCount = () => results.filter((isRight) => isRight).length;
  const isLost = () => results.length === resultsMax && rightCount() < resultsMax * rightShareMin;
  return {
    /** Whether the task of an upgrade has to be polled by the clock, although rows show no change. */
    isOverdue: ({ rollout, upgrade: { progress } }: WatchedUpgrade, at: EpochMs): boolean => {
      if (progress.state !== 'upgrading' || !isLost()) return false;
      const longAt = progress.startedAt + longTimes * rollout.policy.upgrade.expectMs;
      return at >= longAt && progress.polledAt < longAt;
    },
    /** Judges hints whose polls were made since. */
    judge: (byCollector: ReadonlyMap<number, readonly WatchedUpgrade[]>): void => {
      for (const [id, { at, startedAt }] of followed) {
        const progress = (byCollector.get(id) ?? [])
          .map(({ upgrade }) => upgrade.progress)
          .find((each) => each.state === 'upgrading' && each.startedAt === startedAt && each.ending === null);
        const isRunning = progress?.state === 'upgrading';
        if (isRunning && progress.polledAt <= at) continue;
        followed.delete(id);
        results.push(!isRunning);
        if (results.length > resultsMax) results.shift();
      }
    },
    /** Whether to follow a hint, and to judge it later. */
    mayFollow: ({ rollout, upgrade: { identity, progress } }: WatchedUpgrade, at: EpochMs): boolean => {
      if (progress.state !== 'upgrading') return true;
      const isUnproven = results.length < resultsMax && followed.size >= resultsMax;
      const hasCredit = !isLost() && !isUnproven;
      const { expectMs } = rollout.policy.upgrade;
      const isProbeDue =
        at - probedAt >= expectMs * probeShare && at - progress.polledAt >= expectMs * probeAgainShare;
      if (!hasCredit && !isProbeDue) return false;
      if (!hasCredit) probedAt = at;
      followed.set(identity.collectorId, { at, startedAt: progress.startedAt });
      return true;
    },
  };
}

export type HintCredit = ReturnType<typeof makeHintCredit>;
