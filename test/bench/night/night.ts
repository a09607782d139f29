import { goals } from '../goals.ts';
import type { Part } from '../part.ts';
import { quantile } from '../quantile.ts';
import { figureRow, fixed, mebibytes, percent, table } from '../report.ts';
import { drawNight } from './draw-night.ts';
import { findBrokenInNight } from './judge-night.ts';
import { daemonNames } from './night-team.ts';
import { accounts, type Night, pace, runNight } from './run-night.ts';
import { type ProcessName, processNames, type Sample } from './watch-night.ts';
import { isOutside, type Window, windowSeconds, windowsOf } from './windows.ts';

const collectorsDefault = { full: 100_000, short: 1_000 } as const;

/** A whole night at size: from the plan to the end, with a killed leader, a Redis that fails over, and a wrong key. */
export const nightPart: Part = async ({ isShort, collectors, tell }) => {
  const night = await runNight(collectors ?? collectorsDefault[isShort ? 'short' : 'full'], tell);
  const { record: _record, statuses: _statuses, ...seen } = night;
  return {
    data: { pace, accounts, ...seen },
    tables: renderNight(night),
    plots: [{ name: 'night', svg: drawNight(night) }],
    broken: findBrokenInNight(night, { accounts, slots: pace.slots }),
  };
};

function renderNight(night: Night): readonly string[] {
  const { collectors, faults, samples, reads, record } = night;
  const seconds = samples.at(-1)?.at ?? Number.NaN;
  const windows = windowsOf(night);
  const calm = windows.filter(isOutside(faults));
  const rows = (label: string, of: (window: Window) => number, atMost: number) => {
    const values = (some: readonly Window[]) => some.map(of).filter((value) => !Number.isNaN(value));
    return [
      figureRow(`${label}, median (ms)`, [quantile(values(windows), 0.5)], fixed(1), atMost),
      figureRow(`${label}, worst outside of faults (ms)`, [Math.max(...values(calm))], fixed(1), atMost),
      figureRow(`${label}, worst (ms)`, [Math.max(...values(windows))], fixed(1)),
    ];
  };
  const isCalm = isOutside(faults);
  const unanswered = reads.filter(
    ({ takenMs, at }) => takenMs === null && isCalm({ from: at - windowSeconds / 2 }),
  );
  const requests = Object.values(record.requests).reduce((sum, count) => sum + count, 0);
  const shares = new Map(processNames.map((name) => [name, cpuSecondsOf(samples, name) / seconds]));
  const ofTeam = daemonNames.reduce((sum, name) => sum + cpuSecondsOf(samples, name), 0);
  const faultText = faults.map(({ name, from }) => `${name} at ${(from / 60).toFixed(1)} min`).join(', ');
  return [
    table(
      `${collectors} collectors in ${accounts} accounts at ${pace.speed} times real speed; ${faultText}`,
      ['night'],
      [
        figureRow('from plan to end (min)', [seconds / 60], fixed(1)),
        figureRow('upgrades per second', [record.creates.length / seconds], fixed(1)),
        figureRow('requests per upgrade', [requests / record.creates.length], fixed(2)),
        figureRow(
          'CPU of both daemons per upgrade (ms)',
          [(ofTeam * 1_000) / record.creates.length],
          fixed(1),
        ),
        ...rows('event loop late, p99 of 10 s', ({ lagP99Ms }) => lagP99Ms, goals.turnMs),
        ...rows('answers, p95 of 10 s', ({ readsP95Ms }) => readsP95Ms, goals.readMs),
        figureRow('answers, p95 of all (ms)', [quantile(takenMs(reads), 0.95)], fixed(1), goals.readMs),
        figureRow('reads without an answer, outside of faults', [unanswered.length], fixed(0), 0),
      ],
    ),
    table('its processes', processNames, [
      figureRow('CPU, of one core', [...shares.values()], percent(0)),
      figureRow(
        'memory, median (MiB)',
        processNames.map((name) => quantile(memoryOf(samples, name), 0.5)),
        fixed(0),
      ),
      figureRow(
        'memory, peak (MiB)',
        processNames.map((name) => Math.max(...memoryOf(samples, name))),
        fixed(0),
      ),
    ]),
  ];
}

function takenMs(reads: Night['reads']): readonly number[] {
  return reads.flatMap((read) => (read.takenMs === null ? [] : [read.takenMs]));
}

function memoryOf(samples: readonly Sample[], name: ProcessName): readonly number[] {
  return samples.flatMap(({ usages }) => {
    const usage = usages[name];
    return usage === null ? [] : [mebibytes(usage.rssBytes)];
  });
}

/** Of all processes that had this name one after the other. */
function cpuSecondsOf(samples: readonly Sample[], name: ProcessName): number {
  let [sum, before] = [0, samples[0]?.usages[name]?.cpuSeconds ?? 0];
  for (const { usages } of samples) {
    const now = usages[name]?.cpuSeconds;
    if (now === undefined) continue;
    // A new process begins at zero.
    sum += now < before ? now : now - before;
    before = now;
  }
  return sum;
}
