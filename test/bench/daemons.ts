import type { DurationMs, EpochMs } from '../../src/base/time.ts';
import { sleepForReal } from '../../src/base/waiting.ts';
import { type Role, runTeam } from './daemon-team.ts';
import { goals } from './goals.ts';
import type { Part } from './part.ts';
import { figureRow, fixed, table } from './report.ts';

interface Run {
  readonly daemons: number;
  readonly upgradesPerSecond: number;
  readonly stepsPerSecond: number;
  /** The longest pause of creates after each kill, in our time. */
  readonly pausesMs: Readonly<Record<Role, readonly DurationMs[]>>;
  readonly broken: readonly string[];
}

const teams = { full: [1, 2, 4], short: [2] } as const;

// Without a limit of the service, so that the daemons are the limit.
const fast = { speed: 100, slots: 500, expectMs: 50_000, isLimited: false };
const fastCollectors = { full: 3_000, short: 600 } as const;

// Slow enough that creates leave at a steady pace, and long enough for several kills.
const steady = { speed: 20, slots: 60, expectMs: 50_000, isLimited: true };
const steadyCollectors = { full: 1_500, short: 500 } as const;
const killsEach = { full: 3, short: 1 } as const;

const beforeFirstKillMs = 3_000;

// Longer than what a leader's end takes; the next kill comes after it.
const watchMs: DurationMs = 8_000;

/** Several daemons on one Redis: what they do together, and how soon the others go on when one is killed. */
export const daemonsPart: Part = async ({ isShort, tell }) => {
  const length = isShort ? 'short' : 'full';
  const runs: Run[] = [];
  for (const daemons of teams[length]) {
    tell(`${daemons} daemons: throughput`);
    const free = await runTeam(
      { ...fast, daemons, collectors: fastCollectors[length] },
      async () => undefined,
    );
    const seconds = free.tookMs / 1_000;
    const killed = daemons > 1 && (await killSome(daemons, length, tell));
    runs.push({
      daemons,
      upgradesPerSecond: free.createsAt.length / seconds,
      stepsPerSecond: free.requests / seconds,
      pausesMs: killed ? killed.pausesMs : { follower: [], leader: [] },
      broken: [...free.broken, ...(killed ? killed.broken : [])],
    });
  }
  return {
    data: runs,
    tables: [renderRuns(runs)],
    broken: runs.flatMap(({ daemons, broken }) => broken.map((text) => `${daemons} daemons: ${text}`)),
  };
};

async function killSome(
  daemons: number,
  length: 'full' | 'short',
  tell: (text: string) => void,
): Promise<Pick<Run, 'pausesMs' | 'broken'>> {
  const kills: Array<{ readonly role: Role; readonly at: EpochMs }> = [];
  tell(`${daemons} daemons: kill -9`);
  const run = await runTeam({ ...steady, daemons, collectors: steadyCollectors[length] }, async (team) => {
    await sleepForReal(beforeFirstKillMs);
    for (let each = 0; each < killsEach[length]; each += 1) {
      for (const role of ['follower', 'leader'] as const) {
        if (team.isOver()) return;
        kills.push({ role, at: await team.kill(role) });
        await sleepForReal(watchMs);
      }
    }
  });
  const pauses = (wanted: Role) =>
    kills.filter(({ role }) => role === wanted).map(({ at }) => longestPause(run.createsAt, at));
  return { pausesMs: { follower: pauses('follower'), leader: pauses('leader') }, broken: run.broken };
}

/** Between two creates, of which the second came after the kill; a rollout that was over by then shows none. */
function longestPause(createsAt: readonly EpochMs[], killedAt: EpochMs): DurationMs {
  const pauses = createsAt.map((at, index) => {
    const isNear = at > killedAt && at < killedAt + watchMs;
    return isNear ? at - Math.max(killedAt, createsAt[index - 1] ?? killedAt) : 0;
  });
  return Math.max(0, ...pauses);
}

function renderRuns(runs: readonly Run[]): string {
  const row = (
    label: string,
    figure: (run: Run) => number,
    format: (value: number) => string,
    atMost?: number,
  ) => figureRow(label, runs.map(figure), format, atMost);
  const longest = (role: Role) => (run: Run) =>
    run.pausesMs[role].length === 0 ? Number.NaN : Math.max(...run.pausesMs[role]) / 1_000;
  return table(
    'several daemons on one Redis; steps without a limit of the service, kills at 20 times real speed',
    runs.map(({ daemons }) => `${daemons} daemons`),
    [
      row('upgrades per second', ({ upgradesPerSecond }) => upgradesPerSecond, fixed(0)),
      row('steps per second', ({ stepsPerSecond }) => stepsPerSecond, fixed(0)),
      row(
        "longest pause after a follower's kill (s)",
        longest('follower'),
        fixed(1),
        goals.backAtWorkMs.follower / 1_000,
      ),
      row(
        "longest pause after a leader's kill (s)",
        longest('leader'),
        fixed(1),
        goals.backAtWorkMs.leader / 1_000,
      ),
    ],
  );
}
