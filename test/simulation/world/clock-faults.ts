import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { DaemonModel } from './daemon-model.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * A machine is suspended, or somebody sets the clock of one of several: by more than hosts differ, so that its daemon steps
 * back until the clock is right again (decision 56).
 */
export function planClockFaults(
  night: Night,
  { alive, deposeLater }: { alive(): readonly DaemonModel[]; deposeLater(name: string): void },
): void {
  const { setup, scheduler, steering } = night;
  const chances = makeChances(setup.seed, 'clock faults');
  const startsAt = scheduler.now();
  const often = (kind: 'suspend' | 'clockWrong', happen: (daemon: DaemonModel) => void): void => {
    const andNote = (): void => {
      const daemon = chances.some(alive());
      if (daemon === undefined) return;
      night.struck(kind);
      night.trace(daemon.process.name, () => kind);
      happen(daemon);
      deposeLater(daemon.process.name);
    };
    for (let index = 0; index < Math.round(setup.faults[kind]); index += 1)
      scheduler.at(startsAt + chances.between(0, setup.troubleMs), () => {
        // A create that is about to leave must not leave after a suspension.
        if (chances.hit(0.4)) andNote();
        else night.afterNextAdmission(() => scheduler.at(scheduler.now() + chances.int(0, 4_000), andNote));
      });
    steering.able(kind, andNote);
  };
  often('suspend', ({ process }) =>
    process.suspend(chances.pick([12 * secondMs, 40 * secondMs, 150 * secondMs])),
  );
  often('clockWrong', ({ process }) => {
    const byMs = chances.pick([minuteMs, 10 * minuteMs, hourMs, 24 * hourMs]);
    process.setClock(chances.hit(0.5) ? byMs : -byMs);
    const lastsMs = chances.pick([5 * secondMs, minuteMs, 10 * minuteMs, hourMs]);
    const until = Math.min(scheduler.now() + lastsMs, startsAt + setup.troubleMs);
    scheduler.at(until, () => process.setClock(0));
  });
}
