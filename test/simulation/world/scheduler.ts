import { makeTimeline } from '../../../src/base/timeline.ts';

/** Virtual time: nothing happens but what was asked for, one thing after the other, each to its rest. */
export interface Scheduler {
  now(): number;
  /** How many things have happened. */
  events(): number;
  at(instant: number, happen: () => void): void;
  /** Runs until nothing is left, `isOver` says so, or this instant has come. */
  run(until: number, isOver: () => boolean): Promise<'empty' | 'over' | 'late'>;
}

/** @param outside resolves when nothing real is waited for, undefined when nothing is: virtual time stands still until then */
export function makeScheduler(
  startsAt: number,
  outside: () => Promise<void> | undefined = () => undefined,
): Scheduler {
  let now = startsAt;
  let events = 0;
  const timeline = makeTimeline<() => void>();

  const step = (until: number, isOver: () => boolean): 'empty' | 'over' | 'late' | undefined => {
    if (isOver()) return 'over';
    const next = timeline.first();
    if (next === undefined) return 'empty';
    if (next.at > until) return 'late';
    timeline.dropFirst();
    now = Math.max(now, next.at);
    events += 1;
    next.thing();
    return undefined;
  };

  return {
    now: () => now,
    events: () => events,
    // Clocks count whole milliseconds.
    at: (instant, happen) => timeline.put(Math.max(now, Math.round(instant)), happen),
    run: (until, isOver) =>
      new Promise((resolve, reject) => {
        const turnOver = () => {
          try {
            const answered = outside();
            if (answered !== undefined) {
              void answered.then(afterAllPromises);
              return;
            }
            const end = step(until, isOver);
            if (end === undefined) afterAllPromises();
            else resolve(end);
          } catch (error) {
            reject(error);
          }
        };
        // What is asked for from within a promise's turn comes when every promise that can go on has done so.
        const askForTurn = () => process.nextTick(turnOver);
        const afterAllPromises = () => void settled.then(askForTurn);
        afterAllPromises();
      }),
  };
}

const settled = Promise.resolve();
