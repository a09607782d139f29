import { describe, it } from 'vitest';
import {
  aDaemonNight,
  type NightDaemon,
  type NightInput,
  nightPolicy,
  scan,
  statusOf,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

const waves = [
  { name: 'canary', size: 4, soak: '0s' },
  { name: 'rest', approval: true },
];
const excludeLinux = { select: { exclude: [{ osName: 'Linux*' }] } };
const excludeNobody = { select: { exclude: [] } };

/** A night whose config excludes Linux; what excludes nobody is another config of the same policy. */
function aNight(keyPrefixed: NightInput['redis'], more: Partial<NightInput> = {}): NightInput {
  return { redis: keyPrefixed, rollout: { waves, ...excludeLinux }, ...more };
}

async function namesOf(daemon: NightDaemon, rolloutId: string): Promise<ReadonlySet<string>> {
  return new Set(
    (await upgradesOf(daemon, rolloutId)).map(({ identity: { collectorName } }) => collectorName),
  );
}

describe.concurrent('two daemons with two configs of a policy (P5)', () => {
  it('never take in a collector that the config excludes by which the rollout was planned', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight(aNight(redis.config()), onTestFinished);
    const planner = await night.startDaemon();
    const rolloutId = await scan(planner);
    await untilWave(planner, rolloutId, { index: 1, state: 'awaitingApproval' });
    await planner.close();
    // Alone it has the newest config that lives.
    const other = await night.startDaemon({ rollout: { waves, ...excludeNobody, concurrency: 3 } });
    // The brakes that came with the restart reach the rollout, and its plan stays.
    await until('the new limit', async () => (await statusOf(other, rolloutId)).concurrency === 3);
    for (let made = 0; made < 12; made += 1) night.service.world.appear();
    expect(await other.daemon.scanNow(nightPolicy, 'schedule')).toEqual({ kind: 'busy', rolloutId });
    const names = await namesOf(other, rolloutId);
    const linux = night.service.world.collectors().filter(({ facts }) => facts.osName?.startsWith('Linux'));
    expect(linux.length).toBeGreaterThan(10);
    expect(linux.filter(({ facts }) => names.has(facts.name))).toEqual([]);
  });

  it('leave scans to the newest config: the older one takes in nobody that it excludes, and says so', async ({
    expect,
    onTestFinished,
  }) => {
    // A daemon that scans only when it is asked would make no other one outdated.
    const night = await aDaemonNight(aNight(redis.config(), { followsSchedule: true }), onTestFinished);
    const old = await night.startDaemon({ rollout: { waves, ...excludeNobody } });
    const rolloutId = await until('its first scan', async () => (await old.operations.listRollouts())[0]?.id);
    await untilWave(old, rolloutId, { index: 1, state: 'awaitingApproval' });
    const before = await namesOf(old, rolloutId);
    const next = await night.startDaemon();
    // From then on both know: who comes says so before it does anything else.
    await until('the newest to say so', () => next.told('config.differs').length > 0);
    for (let made = 0; made < 12; made += 1) night.service.world.appear();
    expect(await old.daemon.scanNow(nightPolicy, 'schedule')).toMatchObject({ kind: 'outdated' });
    expect(await namesOf(old, rolloutId)).toEqual(before);
    expect(await next.daemon.scanNow(nightPolicy, 'schedule')).toEqual({ kind: 'busy', rolloutId });
    const late = (await upgradesOf(next, rolloutId)).filter(
      ({ identity: { collectorName } }) => !before.has(collectorName),
    );
    const linux = new Set(
      night.service.world
        .collectors()
        .filter(({ facts }) => facts.osName?.startsWith('Linux'))
        .map(({ facts }) => facts.id),
    );
    expect(late.filter(({ identity: { collectorId } }) => linux.has(collectorId))).toEqual([]);
    // Both say so: in the log, to who asks whether they are ready, in the metrics, and in their standings.
    expect(old.told('config.outdated')).toMatchObject([
      { level: 'warn', policy: nightPolicy, reason: expect.stringContaining('1 daemon has a newer config') },
    ]);
    expect((await old.get('/readyz')).text).toContain('a newer config of night');
    expect((await old.get('/metrics')).text).toContain('upwave_config_outdated{policy="night"} 1');
    expect((await next.get('/metrics')).text).toContain('upwave_config_outdated{policy="night"} 0');
    expect((await old.operations.listPolicies()).policies).toMatchObject([
      { config: { kind: 'outdated', others: 1 } },
    ]);
    expect((await next.operations.listPolicies()).policies).toMatchObject([
      { config: { kind: 'newest', others: 1 } },
    ]);
    // Rolled back everywhere: the old config serves the policy again.
    await next.close();
    await until(
      'the old config to count',
      async () => (await old.daemon.scanNow(nightPolicy, 'schedule')).kind === 'busy',
    );
    await until('it to say so', () => old.told('config.agreed').length > 0);
    expect((await old.get('/metrics')).text).toContain('upwave_config_outdated{policy="night"} 0');
  });
});
