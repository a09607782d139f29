import { describe, expect, it } from 'vitest';
import { nightPolicy, twoAccountsConfig } from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';

const { redis, aNight } = useNights();

describe('`upwave` with several accounts', () => {
  it('calls the service of the named account, and checks, plans, runs and exports in each', async (test) => {
    const night = (seed: string) => aNight(test, { scenario: { fleet: { size: 8, seed } } });
    const [eu, us] = [await night('eu'), await night('us')];
    const desk = aDesk(test, { ...twoAccountsConfig(eu, us), redis: redis.config() });
    expect(await desk.call('builds')).toMatchObject({
      code: 2,
      err: expect.stringContaining('name the account with --account; the config has eu, us'),
    });
    expect(await desk.call('collectors', 'list', '--account', 'uss')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no account uss; did you mean us?'),
    });
    const { code, out } = await desk.call('collectors', 'list', '--account', 'us', '--json');
    expect(code).toBe(0);
    const { collectors } = JSON.parse(out) as { collectors: readonly unknown[] };
    expect(collectors).toHaveLength(us.service.world.collectors().length);
    expect(eu.record().requests).toEqual({});

    const checked = await desk.call('config', 'check');
    expect(checked).toMatchObject({ code: 0 });
    expect(checked.out).toContain(`account eu ${eu.baseUrl} (${nightPolicy}-eu); account us ${us.baseUrl}`);
    expect(checked.out).not.toContain('select the same collectors');
    const planned = await desk.call('plan', '--json');
    const { plans, overlaps } = JSON.parse(planned.out) as {
      plans: ReadonlyArray<{ policy: string }>;
      overlaps: readonly unknown[];
    };
    expect(plans.map(({ policy }) => policy)).toEqual([`${nightPolicy}-eu`, `${nightPolicy}-us`]);
    // The ids of the two fleets are the same.
    expect(overlaps).toEqual([]);
    const ran = await desk.run('run', '--once', '--json');
    expect(ran).toMatchObject({ code: 0 });
    for (const [account, night] of [
      ['eu', eu],
      ['us', us],
    ] as const) {
      const { code, out } = await desk.call('export', `${nightPolicy}-${account}`);
      expect(code).toBe(0);
      const upgrades = out.split('\n').filter((line) => line.includes('"kind":"upgrade"'));
      expect(night.record().creates.length).toBeGreaterThan(0);
      expect(upgrades.length).toBeGreaterThanOrEqual(night.record().creates.length);
    }
  });
});
