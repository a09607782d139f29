import { describe, it } from 'vitest';
import { type OnTheWay, openTroubledWay, type TroubledWay } from '../../support/network/troubled-way.ts';
import {
  type AtEnd,
  aStartedNight,
  createsReach,
  type NightInput,
  type StartedNight,
  statusOf,
  untilWave,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

const unknown = {
  kind: 'answer',
  status: 404,
  type: 'application/json',
  body: JSON.stringify({ status: 404, id: 'X', code: 'InvalidCollector', message: 'no such collector' }),
} as const;
const empty = { kind: 'answer', status: 200, type: 'application/json', body: '{"collectors":[]}' } as const;
const pass = { kind: 'pass' } as const;

const isList = ({ path }: OnTheWay): boolean => /\/collectors\?/.test(path) || path.endsWith('/collectors');
const isUpgradableList = ({ path }: OnTheWay): boolean => /\/upgrades\/collectors/.test(path);
const collectorIn = ({ path }: OnTheWay): number | undefined => {
  const [, id] = /\/collectors\/(\d+)\/?$/.exec(path) ?? [];
  return id === undefined ? undefined : Number(id);
};

async function aTroubledNight(
  input: Omit<NightInput, 'redis' | 'through'>,
  atEnd: AtEnd,
): Promise<StartedNight & { readonly way: TroubledWay }> {
  let way: TroubledWay | undefined;
  const started = await aStartedNight(
    {
      ...input,
      redis: redis.config(),
      through: async (serviceUrl) => {
        way = await openTroubledWay(() => serviceUrl);
        return way.url;
      },
    },
    atEnd,
  );
  if (way === undefined) throw new Error('the night has no way to its service');
  atEnd(way.close);
  return { ...started, way };
}

/** Canaries of which all are on the build while their wave soaks, for longer than a busy machine keeps a test from seeing it. */
const canaries = {
  scenario: { fleet: { size: 12, shares: { container: 0, ephemeral: 0 } } },
  rollout: { waves: [{ name: 'canary', size: 4, soak: '3s', maxFailures: 0 }, { name: 'rest' }] },
};

describe.concurrent('an inventory that answers 200 and is not whole (P14)', () => {
  it('does not let a wave pass while it is empty, and the rollout goes on by itself when it is whole', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId, end, way } = await aTroubledNight(canaries, onTestFinished);
    const { waves } = await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const soakEndsAt = waves[0]?.soakEndsAt ?? 0;
    let readAfterSoak = 0;
    way.behave((passing) => {
      if (!isList(passing)) return pass;
      if (Date.now() > soakEndsAt) readAfterSoak += 1;
      return empty;
    });
    await until('readings after the soak', () => readAfterSoak >= 3);
    const waiting = await statusOf(daemon, rolloutId);
    expect(waiting.waves[0]?.state).toBe('soaking');
    expect(waiting.state).toBe('running');
    expect(waiting.blockers.map(({ kind }) => kind)).toContain('inventory');
    expect(night.record().creates).toHaveLength(4);

    way.behave(() => pass);
    const { status, broken } = await end();
    expect(status.state).toBe('succeeded');
    expect(broken).toEqual([]);
  });

  it('takes nobody for gone while every collector is unknown and lists are empty (P9)', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, night, rolloutId, end, way } = await aTroubledNight(
      {
        scenario: { fleet: { size: 30, shares: { container: 0, ephemeral: 0 } } },
        rollout: { waves: [{ name: 'all', maxFailures: 0 }], concurrency: 10 },
      },
      onTestFinished,
    );
    await createsReach(night, 10);
    const refused = new Map<number, number>();
    way.behave((passing) => {
      if (isList(passing) || isUpgradableList(passing)) return empty;
      const id = collectorIn(passing);
      if (id !== undefined) refused.set(id, (refused.get(id) ?? 0) + 1);
      // A tenant that knows no collector knows no task of theirs, and takes no create.
      return unknown;
    });
    await until(
      'repeated 404s of those that ran',
      () => [...refused.values()].filter((times) => times >= 2).length >= 5,
    );
    const waiting = await until('the rollout to wait for a plausible inventory', async () => {
      const status = await statusOf(daemon, rolloutId);
      return status.blockers.some(({ kind }) => kind === 'inventory') && status;
    });
    expect(waiting.counts.withdrawn).toBe(0);
    expect(waiting.state).toBe('running');

    way.behave(() => pass);
    const { status, broken } = await end();
    expect(status.counts.withdrawn).toBe(0);
    expect(status.counts.succeeded).toBe(status.planned);
    expect(status.state).toBe('succeeded');
    expect(broken).toEqual([]);
    expect(daemon.told('inventory.doubted')).toHaveLength(1);
  });
});
