import { expect, it, onTestFinished } from 'vitest';
import type { Clocks } from '../../../src/base/stopwatch.ts';
import {
  activeOf,
  aDaemonNight,
  createsReach,
  type NightDaemon,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
} from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

/** The clocks of a machine whose wall clock is set by somebody. */
function aMachine(aheadMs: number) {
  const machine = { aheadMs };
  const clocks: Clocks = {
    wallNow: () => Date.now() + machine.aheadMs,
    monotonicNow: () => performance.now(),
  };
  return { clocks, setAhead: (ms: number) => void Object.assign(machine, { aheadMs: ms }) };
}

const anHour = 3_600_000;

async function readinessOf(daemon: NightDaemon) {
  const { status, text } = await daemon.get('/readyz');
  return { status, clock: JSON.parse(text).checks.clock };
}

async function clockWrongOf(daemon: NightDaemon): Promise<string | undefined> {
  return /^upwave_clock_wrong (.)$/m.exec((await daemon.get('/metrics')).text)?.[1];
}

/** The upgrades that a daemon has changed since a line of its log. */
function upgradesChangedSince({ log }: NightDaemon, line: number): readonly string[] {
  return log
    .slice(line)
    .flatMap(({ event }) => (String(event).startsWith('upgrade.') ? [String(event)] : []));
}

it('a daemon whose clock is set ahead leaves the work to the other one, and comes back (P2, P10)', async () => {
  const night = await aDaemonNight(
    // Slow enough that creates are left when the other one leads.
    { redis: redis.config(), scenario: { fleet: { size: 60 } }, rollout: { concurrency: 4 } },
    onTestFinished,
  );
  const machine = aMachine(0);
  const wrong = await night.startDaemon({ clocks: machine.clocks });
  await until('the lead', () => wrong.reported('leader.acquired').length > 0);
  const right = await night.startDaemon();
  const rolloutId = await scan(wrong);
  await createsReach(night, 4);
  machine.setAhead(anHour);
  expect(await readinessOf(wrong)).toMatchObject({ status: 503, clock: { ok: false, kind: 'wrong' } });
  await until('the log to say so', () => wrong.reported('clock.wrong').length > 0);
  await until('the other one to lead', () => right.reported('leader.acquired').length > 0);
  const since = wrong.log.length;
  const { clock } = await readinessOf(wrong);
  expect(clock.reason).toMatch(/is (1h|59m\d+s|1h\d+s) ahead of the clock of Redis/);
  const { notReady } = JSON.parse((await wrong.get('/api/v1/policies')).text);
  expect(notReady).toBe(clock.reason);
  expect(await clockWrongOf(wrong)).toBe('1');
  expect(await clockWrongOf(right)).toBe('0');
  const before = night.record().creates.length;
  await createsReach(night, before + 4);
  expect(upgradesChangedSince(wrong, since)).toEqual([]);
  expect(wrong.reported('leader.acquired')).toHaveLength(1);
  machine.setAhead(0);
  await until('it to come back', () => wrong.reported('clock.right').length > 0);
  expect((await readinessOf(wrong)).status).toBe(200);
  expect(await clockWrongOf(wrong)).toBe('0');
  const status = await untilEnded(right, rolloutId);
  expect(status).toMatchObject({ state: 'succeeded', counts: { timedOut: 0, unconfirmed: 0 } });
  expect(activeOf(await statusOf(right, rolloutId))).toBe(0);
  expect(createdTwice(night.record())).toEqual([]);
});

it('a daemon that starts with a wrong clock does nothing, until the clock is right', async () => {
  const night = await aDaemonNight(
    { redis: redis.config(), scenario: { fleet: { size: 10 } } },
    onTestFinished,
  );
  const machine = aMachine(anHour);
  const daemon = await night.startDaemon({ clocks: machine.clocks });
  await until('the log to say so', () => daemon.reported('clock.wrong').length > 0);
  const refused = await daemon.daemon.scanNow(nightPolicy, 'operator');
  expect(refused).toMatchObject({ kind: 'failed', why: { kind: 'wrongClock' } });
  expect(daemon.reported('leader.acquired')).toEqual([]);
  machine.setAhead(0);
  await until('the log to say so', () => daemon.reported('clock.right').length > 0);
  const rolloutId = await scan(daemon);
  expect(await untilEnded(daemon, rolloutId)).toMatchObject({ state: 'succeeded' });
  expect(daemon.reported('clock.right')).toHaveLength(1);
});
