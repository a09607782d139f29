import { runInLanes } from '../lanes.ts';
import type { Part } from '../part.ts';
import { hold, medianOf, type Standing } from './contest.ts';
import { renderContest } from './contest-table.ts';
import { type ContestantName, contestantNames } from './contestant.ts';
import { type ContestName, fullContests, shortContests } from './contests.ts';
import { drawSlots } from './slots-plot.ts';

// Ten hours of the service's time for the fixed batches: once has to be enough.
const runsOnce: readonly ContestName[] = ['slots-10000'];
const runsDefault = 5;

// Rivals need little of the machine, so several run at once. upwave runs alone, so that nobody disturbs it.
const rivalLanes = 5;

/** Lets upwave, the plain pool and the fixed batches upgrade the same fleet, each several times. */
export function contestPart(contestName: ContestName): Part {
  return async ({ isShort, runs: wanted, only, tell }) => {
    const contest = (isShort ? shortContests : fullContests)[contestName];
    const runs = wanted ?? (isShort || runsOnce.includes(contestName) ? 1 : runsDefault);
    const names = contestantNames.filter((name) => only === undefined || name === only);
    const standings: Standing[] = [];
    const play = async (name: ContestantName, run: number): Promise<void> => {
      tell(`${contestName}: ${name}, run ${run} of ${runs}`);
      standings.push(await hold(contest, name));
    };
    const plays = (name: ContestantName) =>
      Array.from({ length: runs }, (_, run) => () => play(name, run + 1));
    await runInLanes(names.includes('upwave') ? plays('upwave') : [], 1);
    await runInLanes(
      // The fixed batches take longest, so they begin.
      names.toReversed().flatMap((name) => (name === 'upwave' ? [] : plays(name))),
      rivalLanes,
    );
    const medians = names.map((name) => medianOf(standings.filter((standing) => standing.name === name)));
    return {
      data: { contest, runs, standings: standings.map(({ tasks: _tasks, ...figures }) => figures) },
      tables: [renderContest(contest, medians, runs)],
      plots: [{ name: contestName, svg: drawSlots(contest, medians) }],
      broken: medians.flatMap(({ name, broken }) => broken.map((text) => `${contestName}, ${name}: ${text}`)),
    };
  };
}
