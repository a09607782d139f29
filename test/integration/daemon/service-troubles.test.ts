import { describe, expect, it } from 'vitest';
import type { OnTheWay, Trouble } from '../../support/network/troubled-way.ts';
import { createsReach, endOf, nightPolicy, scan, statusOf } from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { until } from '../../support/until.ts';

const { aNight, aStartedNight } = useNights();
const oneWave = [{ name: 'all', maxFailures: '100%' }];

const pass = { kind: 'pass' } as const;
const answer = (status: number, body: object = {}, headers = {}): Trouble => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
const isList = ({ path }: OnTheWay): boolean => /\/collectors(\?|$)/.test(path);

describe.concurrent('a service that fails', () => {
  it('loses answers and makes every kind of noise: no second task, no attempt spent, and a good end (P1, P8, P13)', async (test) => {
    const { night, daemon, end } = await aStartedNight(test, {
      daemons: 2,
      scenario: {
        fleet: { size: 25 },
        httpFaults: [
          { operations: ['createUpgradeTask'], share: 0.2, fault: 'answerLost' },
          { operations: ['createUpgradeTask'], share: 0.1, fault: '500AfterWork' },
          { operations: ['createUpgradeTask'], share: 0.1, fault: 'cutOff' },
          { share: 0.03, fault: '502html' },
          { share: 0.03, fault: '500' },
          { share: 0.04, fault: 'brokenJson' },
          { share: 0.04, fault: 'cutOff' },
          { share: 0.02, fault: 'cutOffMidBody' },
          { share: 0.02, fault: 'slow', delay: '1m' },
          { share: 0.008, fault: '429' },
          { share: 1, fault: '503', from: '10m', until: '15m' },
        ],
      },
      rollout: { waves: oneWave, concurrency: 12 },
      // A create without an answer is settled when its answer can't come any more.
      service: { requestTimeout: '500ms' },
    });
    const { status, upgrades, broken } = await end();
    const { faults } = night.record();
    expect(faults['answerLost']).toBeGreaterThan(0);
    // Which of the eleven strike is left to chance, and whether anyone is up to meet the outage to the machine.
    expect(Object.keys(faults).length).toBeGreaterThan(5);
    expect(status.counts.succeeded).toBe(status.planned);
    expect(createdTwice(night.record())).toEqual([]);
    expect(upgrades.some(({ tally: { createsInDoubt } }) => createsInDoubt > 0)).toBe(true);
    // One whose answer came too late, and was found by a check, has none to its name.
    expect(upgrades.filter(({ tally: { attempts } }) => attempts > 1)).toEqual([]);
    expect(broken).toEqual([]);
    expect(daemon.told('step.failed')).toEqual([]);
  });

  it('knows no collector and shows empty lists: nobody is taken for gone (P9)', async (test) => {
    const { daemon, night, rolloutId, end } = await aStartedNight(test, {
      behave: () => pass,
      scenario: { fleet: { size: 30, shares: { container: 0, ephemeral: 0 } } },
      rollout: { waves: [{ name: 'all', maxFailures: 0 }], concurrency: 10 },
    });
    await createsReach(night, 10);
    const refused = new Map<string, number>();
    night.way?.behave((passing) => {
      if (isList(passing) || /\/upgrades\/collectors/.test(passing.path))
        return answer(200, { collectors: [] });
      const [, id] = /\/collectors\/(\d+)\/?$/.exec(passing.path) ?? [];
      if (id !== undefined) refused.set(id, (refused.get(id) ?? 0) + 1);
      // A tenant that knows no collector knows no task of theirs, and takes no create.
      return answer(404, { status: 404, id: 'X', code: 'InvalidCollector', message: 'no such collector' });
    });
    await until('repeated 404s', () => [...refused.values()].filter((times) => times >= 2).length >= 5);
    const waiting = await until('the rollout to wait for a plausible inventory', async () => {
      const status = await statusOf(daemon, rolloutId);
      return status.blockers.some(({ kind }) => kind === 'inventory') && status;
    });
    expect(waiting).toMatchObject({ state: 'running', counts: { withdrawn: 0 } });

    night.way?.behave(() => pass);
    const { status, broken } = await end();
    expect(status).toMatchObject({ state: 'succeeded', counts: { succeeded: status.planned } });
    expect(broken).toEqual([]);
    expect(daemon.told('inventory.doubted')).toHaveLength(1);
  });
});

describe.concurrent('a service that is not available', () => {
  // On a slow machine an outage lasts for half a minute, whose end nobody's time may run out before.
  const rollout = { waves: oneWave, upgrade: { deadline: '100s', verifyWithin: '60s', expect: '600ms' } };
  // One so short that a busy machine gives no answer within it would make an outage of its own.
  const service = { requestTimeout: '3s' };

  it('is down: each daemon says so once in log, readiness and metric; the rollout goes on by itself, and well', async (test) => {
    let isDown = false;
    const behave = () => (isDown ? answer(503) : pass);
    const started = await aStartedNight(test, {
      scenario: { fleet: { size: 15 } },
      rollout,
      service,
      behave,
    });
    const { night } = started;
    const daemons = [started.daemon, await night.startDaemon()] as const;
    await createsReach(night, 5);
    isDown = true;
    // Whatever each of them happens to have to do, it asks for something now.
    const scans = daemons.map((each) => each.daemon.scanNow(nightPolicy, 'operator'));
    await until('both daemons to know', () => daemons.every((each) => each.told('service.down').length > 0));
    for (const each of daemons) {
      const ready = await each.get('/readyz');
      expect(ready.status).toBe(503);
      expect(ready.text).toMatch(/one request at a time tries it.*answered 503/);
      expect((await each.get('/metrics')).text).toContain('upwave_service_up 0');
    }
    isDown = false;
    const { status, upgrades, broken } = await started.end();
    await until('both daemons to know', () => daemons.every((each) => each.told('service.up').length > 0));
    for (const each of daemons) {
      const reason = expect.stringContaining('answered 503');
      expect(each.told('service.down')).toMatchObject([{ level: 'warn', reason }]);
      expect(each.told('service.up')).toMatchObject([{ level: 'info' }]);
      expect((await each.get('/readyz')).status).toBe(200);
      expect((await each.get('/metrics')).text).toContain('upwave_service_up 1');
    }
    await Promise.all(scans);
    expect(status.state).toBe('succeeded');
    // Nothing that happened meanwhile has cost anyone an attempt; one whose answer came too late has none to his name.
    expect(upgrades.filter(({ tally: { attempts } }) => attempts > 1)).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('asks for a long pause: status, readiness and metric say so, also of a daemon that starts in it; holds go on (P4)', async (test) => {
    let isPausing = false;
    const { night, daemon, rolloutId } = await aStartedNight(test, {
      rollout: { waves: oneWave },
      behave: () => (isPausing ? answer(429, {}, { 'retry-after': '3600' }) : pass),
    });
    await createsReach(night, 5);
    const begunAt = Date.now();
    const inAnHour = begunAt + 3_500_000;
    isPausing = true;
    await until(
      'the pause',
      async () => ((await statusOf(daemon, rolloutId)).api?.outage?.until ?? 0) > begunAt,
    );
    const late = await night.startDaemon();
    await until('its line', () => late.told('service.paused').length > 0);
    for (const each of [daemon, late]) {
      const { state, api, eta } = await statusOf(each, rolloutId);
      expect([state, api?.outage]).toMatchObject(['running', { kind: 'rateLimited', since: null }]);
      expect(api?.outage?.until).toBeGreaterThan(inAnHour);
      expect(eta).toMatchObject({ kind: 'at', at: expect.toSatisfy((at: number) => at > inAnHour) });
      expect(api?.rateLimited).toBeGreaterThan(0);
      const ready = await each.get('/readyz');
      expect(ready.text).toMatch(/all wait until [^ ]+Z: the service asked for a pause/);
    }
    await until('the leader to lead', () => daemon.told('leader.acquired').length > 0);
    const [, seconds] = /^upwave_api_pause_seconds (\S+)$/m.exec((await daemon.get('/metrics')).text) ?? [];
    expect(Number(seconds)).toBeGreaterThan(3_500);

    const { operations } = daemon;
    const unknown = { kind: 'unavailable', reason: expect.stringContaining('asked for a pause') };
    expect(await operations.hold({ subject: 'no-such-name', by: 'alice', reason: '' })).toMatchObject(
      unknown,
    );
    const build = { subject: '19.1-1', by: 'alice', reason: 'its disk is full' };
    expect(await operations.hold(build)).toMatchObject({ kind: 'done' });
  });

  it('refuses a key that has worked: a daemon that just started takes it for throttled, and one that never has is wrong', async (test) => {
    let isRefused = true;
    const night = await aNight(test, {
      behave: () => (isRefused ? answer(401) : pass),
      scenario: { fleet: { size: 5 } },
    });
    const first = await night.startDaemon();
    const wrong = await first.daemon.scanNow(nightPolicy, 'operator');
    expect(wrong).toMatchObject({ kind: 'failed', why: { kind: 'misconfigured' } });
    const series = 'upwave_last_scan_timestamp_seconds{policy="night",result="failed"}';
    await until('a leader to show it', async () => (await first.get('/metrics')).text.includes(series));
    expect(first.told('service.throttled')).toEqual([]);
    isRefused = false;
    await endOf(night, first, await scan(first));
    await first.close();
    isRefused = true;
    const second = await night.startDaemon();
    const result = await second.daemon.scanNow(nightPolicy, 'operator');
    expect(result).toMatchObject({
      kind: 'failed',
      why: { detail: expect.stringContaining('worked before') },
    });
    expect(second.told('service.throttled')).toMatchObject([{ reason: '401' }]);
  });
});
