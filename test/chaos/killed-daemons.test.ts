import { setTimeout as wait } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { createsOf } from '../support/night/judge-night.ts';
import { until } from '../support/until.ts';
import { aChaosNight, type ChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { type Quiet, quietAfter, timesText } from './quiet-after.ts';

// Wanted are 2 s after a follower's end and 5 s after the leader's; a busy machine gets half of that on top.
const followerQuietMaxMs = 3_000;
const leaderQuietMaxMs = 7_500;

// Wanted are 8 s: the job's lock, and its stall being noticed.
const pollMaxMs = 12_000;

describe('daemons that are killed', () => {
  const redis = useRedisProcess();

  it('one of three every two or three seconds: the others continue, and nothing is done twice (P1, P2, P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const size = isShort ? 220 : 240;
    const night = await aChaosNight(
      { redis: redis.config('kills'), scenario: { fleet: { size } }, daemons: 3, creates: 10 },
      onTestFinished,
    );
    const quiet: Record<'leader' | 'follower', Quiet[]> = { leader: [], follower: [] };
    // The leader first, then whoever is not, in turn.
    for (let turn = 0; (await pendingIn(night)) > 20; turn += 1) {
      const role = turn % 2 === 0 ? 'leader' : 'follower';
      const victim = await until(`a ${role}`, () => {
        const daemons = night.daemons();
        const leading = daemons.find((daemon) => daemon.isLeading());
        // While the lease of a leader that was killed has still to run out, there is no follower either.
        if (leading === undefined || role === 'leader') return leading;
        return daemons.find((daemon) => daemon !== leading);
      });
      const killedAt = performance.now();
      await victim.kill();
      quiet[role].push(await quietAfter(night));
      await night.startDaemon();
      // Counted from the kill: on a slow machine, which takes seconds for a start, the rollout would be over too soon.
      await wait(Math.max(0, 2_500 + 500 * (turn % 3) - (performance.now() - killedAt)));
    }
    const { broken, status } = await night.end();
    const { leader, follower } = quiet;
    report(
      `${leader.length} leaders and ${follower.length} followers of ${status.planned} upgrades killed; next create after ` +
        `${timesText(leader.map(({ createMs }) => createMs))} (leader), ` +
        `${timesText(follower.map(({ createMs }) => createMs))} (follower); next request of any kind after ` +
        timesText([...leader, ...follower].map(({ requestMs }) => requestMs)),
    );
    expect(broken).toEqual([]);
    expect(leader.length).toBeGreaterThan(1);
    expect(leader.filter(({ createMs }) => (createMs ?? Infinity) > leaderQuietMaxMs)).toEqual([]);
    expect(
      follower.filter(({ createMs, requestMs }) => (requestMs ?? createMs ?? Infinity) > followerQuietMaxMs),
    ).toEqual([]);
  });

  it.skipIf(isShort)(
    'each in the middle of a create, before or after it arrives: a poll settles the create, with one task for each collector (P1)',
    async ({ expect, onTestFinished }) => {
      const night = await aChaosNight(
        {
          redis: redis.config('creates'),
          scenario: { fleet: { size: 90 } },
          rollout: { concurrency: 5 },
          // As by default: a create that did not arrive keeps its slot until it can't arrive any more.
          service: { requestTimeout: '30s' },
          daemons: 3,
          creates: 3,
        },
        onTestFinished,
      );
      const arrived = await killInCreate(night, 'lose');
      await night.startDaemon();
      await night.createsReach(night.record().creates.length + 3);
      const lost = await killInCreate(night, 'swallow');
      await night.startDaemon();
      const { broken } = await night.end();
      report(
        `killed in the middle of a create: polled after ${timesText([...arrived.polledAtMs, ...lost.polledAtMs])}; ` +
          `settled after ${timesText(arrived.settledMs)} where it arrived, ${timesText(lost.settledMs)} where it did not`,
      );
      expect(broken).toEqual([]);
      for (const { polledAtMs } of [arrived, lost]) {
        expect(polledAtMs.length).toBeGreaterThan(0);
        expect(Math.max(...polledAtMs)).toBeLessThan(pollMaxMs);
      }
      expect(arrived.settledMs.length).toBeGreaterThan(0);
      expect(Math.max(...arrived.settledMs)).toBeLessThan(pollMaxMs);
    },
  );
});

async function pendingIn(night: ChaosNight): Promise<number> {
  return (await until('a status', () => night.status())).counts.pending;
}

interface InDoubt {
  /** Until another daemon had polled each create in doubt. */
  readonly polledAtMs: readonly number[];
  /** Until each that did arrive (`lose`) or did not (`swallow`) was settled. */
  readonly settledMs: readonly number[];
}

/** Kills a daemon when its next create is in flight, and watches the creates in doubt. */
async function killInCreate(night: ChaosNight, how: 'lose' | 'swallow'): Promise<InDoubt> {
  const [victim, ...others] = night.daemons();
  const struck = new Promise<void>((resolve) => {
    victim?.way.behave(({ isCreate }) => {
      if (!isCreate) return { kind: 'pass' };
      resolve();
      return { kind: how };
    });
  });
  await struck;
  // The service has carried out the arrived creates by then.
  await wait(50);
  await victim?.kill();
  const since = performance.now();
  const looks = new Map<number, number>();
  for (const { way } of others) {
    way.behave(({ path }) => {
      const id = Number(/\/collectors\/(\d+)$/.exec(path)?.[1]);
      if (!looks.has(id)) looks.set(id, performance.now() - since);
      return { kind: 'pass' };
    });
  }
  const inDoubt = await startingIn(night);
  const tasks = createsOf(night.record());
  const ofThisKind = new Set([...inDoubt].filter((id) => tasks.has(id) === (how === 'lose')));
  const settledMs: number[] = [];
  await until(
    'creates in doubt to be settled',
    async () => {
      const still = await startingIn(night);
      for (const id of ofThisKind) {
        if (still.has(id) || !ofThisKind.delete(id)) continue;
        settledMs.push(performance.now() - since);
      }
      return ofThisKind.size === 0;
    },
    45_000,
  );
  return { polledAtMs: [...inDoubt].flatMap((id) => looks.get(id) ?? []), settledMs };
}

/** Collectors whose create was sent and not answered yet. */
async function startingIn(night: ChaosNight): Promise<Set<number>> {
  const { id } = await until('the rollout', () => night.status());
  const search = { limit: 1_000, state: ['starting' as const] };
  const answer = await night.daemons()[0]?.api.searchUpgrades(id, search);
  return new Set(answer?.collectors.map(({ collectorId }) => collectorId));
}
