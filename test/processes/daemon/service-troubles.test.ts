import { describe, expect, it } from 'vitest';
import type { Trouble } from '../../support/network/troubled-way.ts';
import { endOf, nightPolicy, scan } from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { until } from '../../support/until.ts';

const { aNight, aStartedNight } = useNights();

const pass: Trouble = { kind: 'pass' };
const refused: Trouble = {
  kind: 'answer',
  status: 401,
  headers: { 'content-type': 'application/json' },
  body: '{}',
};

describe.concurrent('a service that fails', () => {
  it('loses answers and fails in every way: each collector gets one task and one attempt, and the rollout succeeds (P1, P8, P13)', async (test) => {
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
      rollout: { waves: [{ name: 'all', maxFailures: '100%' }], concurrency: 12 },
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
    expect(daemon.reported('step.failed')).toEqual([]);
  });

  it('refuses a key that has worked: a new daemon treats this as throttling, and an unused key as wrong', async (test) => {
    let isRefused = true;
    const night = await aNight(test, {
      behave: () => (isRefused ? refused : pass),
      scenario: { fleet: { size: 5 } },
    });
    const first = await night.startDaemon();
    const wrong = await first.daemon.scanNow(nightPolicy, 'operator');
    expect(wrong).toMatchObject({ kind: 'failed', why: { kind: 'misconfigured' } });
    const series = 'upwave_last_scan_timestamp_seconds{policy="night",result="failed"}';
    await until('a leader to show it', async () => (await first.get('/metrics')).text.includes(series));
    expect(first.reported('service.throttled')).toEqual([]);
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
    expect(second.reported('service.throttled')).toMatchObject([{ reason: '401' }]);
  });
});
