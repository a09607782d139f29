import { sumOf } from '../../../src/base/grouping.ts';
import { startProcess } from '../../support/redis/start-test-redis.ts';
import { runInLanes } from '../lanes.ts';
import type { Part } from '../part.ts';
import { table } from '../report.ts';
import { playInProcesses } from './play-in-processes.ts';
import { playInVirtualTime } from './play-in-virtual-time.ts';
import { type Compared, type ComparedFigure, compare, type Played } from './played.ts';
import { situations, usualSize } from './situations.ts';

/** The service's clock runs so many times as fast. What a daemon's own delays add to an end grows with it. */
const speed = 10;

/** Rollouts beside each other: they wait most of the time. */
const lanes = 5;
const seedsUsual = 100;
const seedsShort = 40;

/** Rehearsals against rollouts of real daemons, and in the short form against rollouts of the real loops in virtual time. */
export const rehearsalPart: Part = async ({ isShort, tell }) => {
  const played = isShort ? await playAllInVirtualTime(tell) : await playAllInProcesses(tell);
  // Not beside them: what is rehearsed takes every turn of this process.
  const compared: Compared[] = [];
  for (const each of played) {
    tell(`rehearsing: ${each.name}`);
    compared.push(await compare(each, isShort ? seedsShort : seedsUsual));
  }
  return { data: compared, tables: [render(compared, isShort)], broken: [] };
};

async function playAllInVirtualTime(tell: (text: string) => void): Promise<readonly Played[]> {
  const played: Played[] = [];
  // One policy at a time is played there.
  for (const situation of situations.filter(({ other }) => other === undefined)) {
    tell(situation.name);
    played.push(await playInVirtualTime(situation, { seed: 1, size: usualSize }));
  }
  return played;
}

async function playAllInProcesses(tell: (text: string) => void): Promise<readonly Played[]> {
  const redis = await startProcess();
  try {
    const tasks = situations.map((situation, index) => () => {
      tell(situation.name);
      const of = { redisUrl: redis.url, keyPrefix: `r${index}` };
      return playInProcesses(situation, { seed: 1, size: usualSize, speed, ...of });
    });
    return await runInLanes(tasks, lanes);
  } finally {
    await redis.close();
  }
}

function render(compared: readonly Compared[], isShort: boolean): string {
  const met = (of: ComparedFigure['of']) =>
    sumOf(compared, ({ figures }) => (figures.some((each) => each.of === of && each.isMet) ? 1 : 0));
  const by = isShort ? 'in virtual time' : `by processes, ${speed} times real speed`;
  const inRange = `of ${compared.length}, within the range: ends ${met('tookMs')}, harm ${met('harmed')}`;
  return table(
    `rollouts ${by}, and their rehearsals; ${inRange}; requests within 10% of the median: ${met('requests')}`,
    [
      'took (min)',
      'rehearsed',
      '',
      'harmed',
      'rehearsed',
      '',
      'requests',
      'rehearsed',
      '',
      'state',
      'rehearsed',
    ],
    compared.map(({ name, state, figures, rehearsal }) => ({
      label: name,
      cells: [...figures.flatMap(cellsOf), state, rehearsal.ends[0]?.state ?? ''],
    })),
  );
}

function cellsOf({ of, real, rehearsed, isMet }: ComparedFigure): readonly string[] {
  const text = (value: number) => (of === 'tookMs' ? (value / 60_000).toFixed(1) : String(value));
  const { best, median, worst } = rehearsed;
  return [text(real), of === 'requests' ? text(median) : `${text(best)}-${text(worst)}`, isMet ? '' : 'out'];
}
