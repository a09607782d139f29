import type { Clock, EpochMs } from '../../base/time.ts';
import { untilAborted } from '../../base/waiting.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';

/** The collectors that the service would upgrade to a build. */
export interface Upgradable {
  readonly ids: ReadonlySet<number>;
  /** The service's clock when it had named the last of them, where it told: what is newer came after that. */
  readonly offeredAt: EpochMs | null;
}

export interface UpgradableReadings {
  /**
   * A reading of the upgradable list whose first request leaves after this call, so that it shows what is true now.
   * Who asks while one has not left yet shares it; while one is on its way, the next starts after it.
   * @throws the signal's reason when it is aborted first
   */
  ask(toBuild: string, isUrgent: boolean, signal?: AbortSignal): Promise<Answer<Upgradable>>;
  /** A reading that began since then and had this collector on it. Asks nothing; undefined when none is known. */
  shown(collectorId: number, toBuild: string, since: EpochMs): Upgradable | undefined;
}

/** `onStart` must be called right before the reading's first request leaves. */
export type ReadUpgradable = (
  reading: { readonly toBuild: string; readonly isUrgent: boolean },
  onStart: () => void,
) => Promise<Answer<Upgradable>>;

interface LastReading {
  readonly toBuild: string;
  readonly beganAt: EpochMs;
  readonly upgradable: Upgradable;
}

/** Shares readings: each costs a page or more of the budget, and tells about every collector at once. */
export function makeUpgradableReadings(clock: Clock, read: ReadUpgradable): UpgradableReadings {
  const notStarted = new Map<string, Promise<Answer<Upgradable>>>();
  const newest = new Map<string, Promise<Answer<Upgradable>>>();
  // One alone, which bounds it: rollouts of one daemon mostly go to one build.
  let last: LastReading | undefined;

  function begin(toBuild: string, isUrgent: boolean): Promise<Answer<Upgradable>> {
    const before = newest.get(toBuild);
    const run = async (): Promise<Answer<Upgradable>> => {
      // Its own askers hear of its failure; this one only waits for its end.
      await Promise.allSettled([before]);
      let beganAt: EpochMs | undefined;
      try {
        const answer = await read({ toBuild, isUrgent }, () => {
          beganAt ??= clock.now();
          forget(notStarted, toBuild, reading);
        });
        if (answer.ok && beganAt !== undefined) last = { toBuild, beganAt, upgradable: answer.value };
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
    shown: (collectorId, toBuild, since) => {
      if (last === undefined || last.toBuild !== toBuild || !last.upgradable.ids.has(collectorId))
        return undefined;
      // One that began in the future did so by a clock that was set back since: who knows when.
      return last.beganAt >= since && last.beganAt <= clock.now() ? last.upgradable : undefined;
    },
  };
}

function forget<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.get(key) === value) map.delete(key);
}
