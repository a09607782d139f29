import { describe, it } from 'vitest';
import { aStartedNight } from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();
const oneWave = [{ name: 'all', maxFailures: '100%' }];
// A create without an answer is settled when its answer can't come any more, so a short time-out makes a short test.
const impatient = { requestTimeout: '500ms' };

describe.concurrent('a service that fails', () => {
  it('loses answers and makes every kind of noise: no second task, no attempt spent, and a good end (P1, P8, P13)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, end } = await aStartedNight(
      {
        redis: redis.config(),
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
        service: impatient,
      },
      onTestFinished,
    );
    const { status, upgrades, broken } = await end();
    const faults = Object.keys(night.record().faults);
    expect(night.record().faults['answerLost']).toBeGreaterThan(0);
    // Which of the eleven strike is left to chance, and whether anyone is up to meet the outage to the machine.
    expect(faults.length).toBeGreaterThan(5);
    expect(status.counts.succeeded).toBe(status.planned);
    expect(createdTwice(night.record())).toEqual([]);
    expect(upgrades.some(({ tally: { createsInDoubt } }) => createsInDoubt > 0)).toBe(true);
    // One whose answer came too late, and was found by a check, has none to its name.
    expect(upgrades.filter(({ tally: { attempts } }) => attempts > 1)).toEqual([]);
    expect(broken).toEqual([]);
    expect(daemon.told('step.failed')).toEqual([]);
  });
});
