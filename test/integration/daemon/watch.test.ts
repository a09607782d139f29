import { describe, it } from 'vitest';
import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import { startWayToService } from '../../support/network/way-to-service.ts';
import {
  aDaemonNight,
  learnClock,
  nobodyRollout,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();
const oneWave = [{ name: 'all', maxFailures: '100%' }];
const wide = {
  waves: oneWave,
  concurrency: 40,
  // Ten minutes of the service's time are usual: a page comes every 40 seconds of it, 133 ms of ours.
  upgrade: { deadline: '20s', verifyWithin: '60s', expect: '2s' },
};
const crowd = {
  fleet: { size: 40, shares: { dead: 0, hosted: 0, mac: 0, container: 0, latestOrOneBehind: 0 } },
  durations: {
    median: '10m',
    p95: '20m',
    min: '6m',
    max: '25m',
    restartMin: '10s',
    restartMax: '20s',
    incrementFromBuildsBehind: null,
  },
} as const;

type AtEnd = { readonly onTestFinished: (work: () => Promise<void>) => void };

/** A night whose service answers 500 to the inventory once a rollout is on its way, when `isBroken` says so. */
async function aNight({ onTestFinished }: AtEnd, isBroken: () => boolean) {
  return aDaemonNight(
    {
      redis: redis.config(),
      scenario: crowd,
      rollout: wide,
      moreRollouts: [nobodyRollout],
      through: async (serviceUrl) => {
        const way = await startWayToService(
          serviceUrl,
          () => 0,
          (url) => (isBroken() && isInventory(url) ? { status: 500 } : undefined),
        );
        onTestFinished(way.close);
        return way.url;
      },
    },
    onTestFinished,
  );
}

function isInventory(url: string): boolean {
  return /\/collectors\?/.test(url);
}

function asked(record: RecordSnapshot, operation: string): number {
  return Object.entries(record.requests).reduce(
    (sum, [name, count]) => (name.startsWith(`${operation} `) ? sum + count : sum),
    0,
  );
}

describe('the inventory, read while many upgrades are on their way', () => {
  it('takes the place of most looks; without its pages, single looks bring every upgrade to its end', async ({
    expect,
    onTestFinished,
  }) => {
    const looksOf = async (isPaging: boolean) => {
      let isUnderWay = false;
      const night = await aNight({ onTestFinished }, () => isUnderWay && !isPaging);
      const daemon = await night.startDaemon();
      await learnClock(night, daemon);
      const rolloutId = await scan(daemon);
      isUnderWay = true;
      const status = await untilEnded(daemon, rolloutId);
      expect(status.state).toBe('succeeded');
      expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
      const record = night.record();
      // A series of readings that fail is told of once; a soak's own poll tells of its rollout.
      const complaints = daemon.told('look.failed').filter(({ rollout }) => !rollout);
      expect(complaints.map(({ reason }) => reason)).toHaveLength(isPaging ? 0 : 1);
      await night.close();
      // Each is looked at once before its create: it is admitted right after its plan.
      const proofs = asked(record, 'getCollector') - record.creates.length;
      return { tasks: asked(record, 'getUpgradeTask'), proofs };
    };
    // At once, so that a machine with other work to do hinders both alike. How many polls a page saves is the bench's to say.
    const [withPages, without] = await Promise.all([looksOf(true), looksOf(false)]);
    expect(withPages.tasks + withPages.proofs).toBeLessThan(without.tasks + without.proofs);
  });
});
