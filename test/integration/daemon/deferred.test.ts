import { describe, it } from 'vitest';
import { defaultBuilds } from '../../../src/reference-service/scenario/default-builds.ts';
import { startWayToService } from '../../support/network/way-to-service.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  type AtEnd,
  aDaemonNight,
  aStartedNight,
  type Night,
  type NightDaemon,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
  untilState,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const fleet = { size: 15, shares: { hosted: 0, mac: 0, container: 0, latestOrOneBehind: 0 } };
const rest = { name: 'rest', maxFailures: 0 };

const isWaiting = ({ counts }: Awaited<ReturnType<typeof statusOf>>): boolean => counts.deferred > 0;

describe.concurrent('a canary that can’t be upgraded now', () => {
  it('is waited for when nothing but 502 is known of it for a while: the rollout is never held', async ({
    expect,
    onTestFinished,
  }) => {
    let isDown = true;
    const { daemon, rolloutId, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: { fleet },
        rollout: { waves: [{ name: 'canary', size: 1, soak: '100ms', maxFailures: 0 }, rest] },
        through: async (serviceUrl) => {
          const way = await startWayToService(
            serviceUrl,
            () => 0,
            (url) => (isDown && /\/collectors\/\d+$/.test(url) ? { status: 502 } : undefined),
            undefined,
            // Without a time to compare its row with, the canary is polled before its create.
            () => !isDown,
          );
          onTestFinished(way.close);
          return way.url;
        },
      },
      onTestFinished,
    );
    const waiting = await until('the canary to be deferred', async () => {
      const status = await statusOf(daemon, rolloutId);
      return isWaiting(status) && status;
    });
    expect(waiting.causes).toMatchObject([
      { of: 'deferred', total: 1, causes: [{ kind: 'notAlive', count: 1 }], others: { unread: 0 } },
    ]);
    isDown = false;
    expect(waiting).toMatchObject({
      state: 'running',
      blockers: [{ kind: 'deferred' }],
    });
    expect(waiting.blockers[0]?.until).toBeGreaterThan(0);
    const { status } = await end();
    expect(status.state).toBe('succeeded');
    expect(daemon.told('upgrade.deferred')).not.toEqual([]);
    expect(daemon.told('rollout.held')).toEqual([]);
  });

  it('holds the rollout once it was waited for in vain; back and upgraded, it ends that hold (P14)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: { fleet },
        rollout: {
          defer: { upTo: '1s' },
          waves: [{ name: 'canary', size: 1, soak: '100ms', maxFailures: 0, approval: true }, rest],
        },
      },
      onTestFinished,
    );
    const { world } = night.service;
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    const canary = await canaryOf(daemon, rolloutId);
    world.kill(canary);
    const { targetBuild } = await statusOf(daemon, rolloutId);
    await until('its death to be noticed', () =>
      world.upgradableTo(targetBuild).every(({ facts }) => facts.id !== canary),
    );
    await applyAsShown(daemon.operations, { rolloutId, verb: 'approve', by: 'test', reason: '' });
    const held = await untilState(daemon, rolloutId, 'held');
    expect(held).toMatchObject({
      heldFor: { kind: 'evidence', wave: 0 },
      reason: expect.stringContaining('resume to continue without evidence, or abort'),
    });
    world.revive(canary);
    // The next scan finds it eligible again.
    await until('it to be back', async () => {
      await daemon.daemon.scanNow(nightPolicy, 'schedule');
      return (await statusOf(daemon, rolloutId)).state !== 'held';
    });
    const status = await untilEnded(daemon, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(daemon.told('rollout.resumed')).toMatchObject([{ by: 'daemon' }]);
    expect(status.waves[0]?.acknowledged).toBe(0);
    expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
  });
});

describe.concurrent('a person who upgrades collectors while their creates are on their way', () => {
  it('leaves a canary that soaks on the build: the rollout is never held (P14)', async ({
    expect,
    onTestFinished,
  }) => {
    let canary: number | undefined;
    const isFirst = (collectorId: number): boolean => {
      canary ??= collectorId;
      return collectorId === canary;
    };
    const waves = [{ name: 'canary', size: 1, soak: '500ms', maxFailures: 0 }, rest];
    const { daemon, end } = await aNightOfHands(waves, isFirst, onTestFinished);
    const { status } = await end();
    expect(status.state).toBe('succeeded');
    expect(status.waves[0]?.counts).toMatchObject({ withdrawn: 1, succeeded: 0 });
    expect(daemon.told('rollout.held')).toEqual([]);
    expect(daemon.told('wave.soaking')).toMatchObject([{ wave: 'canary' }]);
  });
});

/** A night in which a person upgrades some collectors by hand, right before the service gets the first create of each. */
async function aNightOfHands(
  waves: ReadonlyArray<Readonly<Record<string, unknown>>>,
  isUpgradedByHand: (collectorId: number) => boolean,
  onTestFinished: AtEnd,
) {
  const target = defaultBuilds.at(-1)?.version ?? '';
  const byHand = new Set<number>();
  let world: Night['service']['world'] | undefined;
  const upgradeByHand = async (body: string): Promise<void> => {
    const { collectorId } = JSON.parse(body) as { readonly collectorId: number };
    if (world === undefined || byHand.has(collectorId) || !isUpgradedByHand(collectorId)) return;
    byHand.add(collectorId);
    world.clickUpgrade(collectorId, target);
    await until('the upgrade by hand', () => world?.isInUpgrade(collectorId) === false);
  };
  const night = await aDaemonNight(
    {
      redis: redis.config(),
      scenario: {
        fleet: { ...fleet, size: 20 },
        durations: { median: '30s', p95: '40s', min: '20s', max: '1m', restartMin: '1s', restartMax: '2s' },
        failures: [{ match: { version: target }, outcome: 'createCode', code: 'collector.version.invalid' }],
      },
      rollout: { waves },
      through: async (serviceUrl) => {
        const way = await startWayToService(
          serviceUrl,
          () => 0,
          () => undefined,
          upgradeByHand,
        );
        onTestFinished(way.close);
        return way.url;
      },
    },
    onTestFinished,
  );
  ({ world } = night.service);
  const daemon = await night.startDaemon();
  const rolloutId = await scan(daemon);
  const end = async () => ({
    status: await untilEnded(daemon, rolloutId),
    upgrades: await upgradesOf(daemon, rolloutId),
  });
  return { night, daemon, byHand, end };
}

/** The only collector of the first wave. */
async function canaryOf(daemon: NightDaemon, rolloutId: string): Promise<number> {
  const [canary, second] = (await upgradesOf(daemon, rolloutId)).filter(
    ({ identity: { wave } }) => wave === 0,
  );
  if (canary === undefined || second !== undefined) throw new Error('there is one canary');
  return canary.identity.collectorId;
}
