import type { Clock, EpochMs } from '../base/time.ts';
import { untilAborted } from '../base/until-aborted.ts';
import type { Answer } from '../orchestrator/ports/answer.ts';

/** Ids of the collectors that the service would upgrade to a build now. */
export type UpgradableIds = ReadonlySet<number>;

export interface UpgradableReadings {
  /**
   * A reading of the upgradable list whose first request leaves after this call, so that it shows what is true now.
   * Who asks while one has not left yet shares it; while one is on its way, the next starts after it.
   * @throws the signal's reason when it is aborted first
   */
  ask(toBuild: string, isUrgent: boolean, signal?: AbortSignal): Promise<Answer<UpgradableIds>>;
  /** Whether a reading that began since then had this collector on it. Asks nothing; false when that is not known. */
  hasShown(collectorId: number, toBuild: string, since: EpochMs): boolean;
}

/** `onStart` must be called right before the reading's first request leaves. */
export type ReadUpgradable = (
  reading: { readonly toBuild: string; readonly isUrgent: boolean },
  onStart: () => void,
) => Promise<Answer<UpgradableIds>>;

interface LastReading {
  readonly toBuild: string;
  readonly beganAt: EpochMs;
  readonly ids: UpgradableIds;
}

/** Shares readings: each costs a page or more of the budget, and tells about every collector at once. */
export function makeUpgradableReadings(clock: Clock, read: ReadUpgradable): UpgradableReadings {
  const notStarted = new Map<string, Promise<Answer<UpgradableIds>>>();
  const newest = new Map<string, Promise<Answer<UpgradableIds>>>();
  // One alone, which bounds it: rollouts of one daemon mostly go to one build.
  let last: LastReading | undefined;

  function begin(toBuild: string, isUrgent: boolean): Promise<Answer<UpgradableIds>> {
    const before = newest.get(toBuild);
    const run = async (): Promise<Answer<UpgradableIds>> => {
      // Its own askers hear of its failure; this one only waits for its end.
      await Promise.allSettled([before]);
      let beganAt: EpochMs | undefined;
      try {
        const answer = await read({ toBuild, isUrgent }, () => {
          beganAt ??= clock.now();
          forget(notStarted, toBuild, reading);
        });
        if (answer.ok && beganAt !== undefined) last = { toBuild, beganAt, ids: answer.value };
        return answer;
      } finally {
        forget(notStarted, toBuild, reading);
        forget(newest, toBuild, reading);
      }
    };
    const reading = run();
    notStarted.set(toBuild, reading);
    newest.set(toBuild, reading);
    return reading;
  }

  return {
    ask: (toBuild, isUrgent, signal) =>
      untilAborted(notStarted.get(toBuild) ?? begin(toBuild, isUrgent), signal),
    hasShown: (collectorId, toBuild, since) => {
      if (last === undefined || last.toBuild !== toBuild || !last.ids.has(collectorId)) return false;
      // One that began in the future did so by a clock that was set back since: who knows when.
      return last.beganAt >= since && last.beganAt <= clock.now();
    },
  };
}

function forget<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.get(key) === value) map.delete(key);
}
