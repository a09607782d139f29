import { describe, it } from 'vitest';
import { type OnTheWay, openTroubledWay, type TroubledWay } from '../../support/network/troubled-way.ts';
import {
  type AtEnd,
  aStartedNight,
  createsReach,
  type NightInput,
  rollBack,
  type StartedNight,
  statusOf,
  untilEnded,
  untilWave,
  upgradesOf,
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

/** The same list without these collectors, page by page. */
function without({ path }: OnTheWay, ids: ReadonlySet<number>) {
  const url = new URL(path, 'http://service');
  const offset = Number(url.searchParams.get('offset') ?? 0);
  const limit = Number(url.searchParams.get('limit') ?? 50);
  url.searchParams.set('offset', '0');
  url.searchParams.set('limit', '1000');
  return {
    kind: 'rewrite',
    path: `${url.pathname}${url.search}`,
    body: (text: string) => {
      const { collectors } = JSON.parse(text) as { collectors: ReadonlyArray<{ readonly id: number }> };
      const kept = collectors.filter(({ id }) => !ids.has(id));
      return JSON.stringify({ collectors: kept.slice(offset, offset + limit) });
    },
  } as const;
}

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

/** Canaries of which all are on the build while their wave soaks. */
const canaries = {
  scenario: { fleet: { size: 40, shares: { container: 0, ephemeral: 0 } } },
  rollout: { waves: [{ name: 'canary', size: 4, soak: '5s', maxFailures: 0 }, { name: 'rest' }] },
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
    await until('readings after the soak', () => readAfterSoak >= 5);
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

  it('has the canaries that it lacks polled by their id, and the wave passes by that', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, rolloutId, end, way } = await aTroubledNight(canaries, onTestFinished);
    const { waves } = await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const ids = (await upgradesOf(daemon, rolloutId)).flatMap(({ identity: { wave, collectorId } }) =>
      wave === 0 ? [collectorId] : [],
    );
    const lacking = new Set(ids.slice(0, 3));
    const soakEndsAt = waves[0]?.soakEndsAt ?? 0;
    const polled = new Set<number>();
    way.behave((passing) => {
      const id = collectorIn(passing);
      if (id !== undefined && Date.now() >= soakEndsAt) polled.add(id);
      return isList(passing) ? without(passing, lacking) : pass;
    });
    await untilWave(daemon, rolloutId, { index: 0, state: 'passed' });
    expect([...lacking].filter((id) => !polled.has(id))).toEqual([]);
    way.behave(() => pass);
    expect((await end()).status.state).toBe('succeeded');
  });

  it('counts a canary that is gone against its wave', async ({ expect, onTestFinished }) => {
    const { daemon, rolloutId, way } = await aTroubledNight(canaries, onTestFinished);
    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const upgrades = await upgradesOf(daemon, rolloutId);
    const canary = upgrades.find(({ identity: { wave } }) => wave === 0)?.identity.collectorId ?? 0;
    way.behave((passing) => {
      if (collectorIn(passing) === canary) return unknown;
      return isList(passing) ? without(passing, new Set([canary])) : pass;
    });
    const held = await until('the hold', async () => {
      const status = await statusOf(daemon, rolloutId);
      return status.state === 'held' && status;
    });
    expect(held.reason).toMatch(/failures 1, allowed 0/);
    const after = (await upgradesOf(daemon, rolloutId)).find(
      ({ identity: { collectorId } }) => collectorId === canary,
    );
    expect(after).toMatchObject({
      progress: { state: 'unconfirmed', reason: expect.stringMatching(/vanished/) },
    });
  });

  it('does not end a rollback with nobody taken back', async ({ expect, onTestFinished }) => {
    const { daemon, rolloutId, way } = await aTroubledNight(canaries, onTestFinished);
    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    let read = 0;
    way.behave((passing) => {
      if (!isList(passing)) return pass;
      read += 1;
      return empty;
    });
    expect(await rollBack(daemon, rolloutId)).toMatchObject({ kind: 'done' });
    // The second one is read after what the first one showed was stored.
    await until('two readings for the rollback', () => read >= 2);
    const waiting = await statusOf(daemon, rolloutId);
    expect(waiting.state).toBe('rollingBack');
    expect(waiting.blockers).toMatchObject([
      { kind: 'rollbackPlan', reason: expect.stringContaining('not plausible') },
    ]);

    way.behave(() => pass);
    const status = await untilEnded(daemon, rolloutId);
    expect(status.state).toBe('rolledBack');
    const left = status.leftBehind.reduce((sum, { count }) => sum + count, 0);
    expect(status.counts.rolledBack).toBeGreaterThan(1);
    expect(status.counts.rolledBack + left).toBe(4);
  });

  it('takes nobody for gone while every collector is unknown and lists are empty (P9)', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, night, rolloutId, end, way } = await aTroubledNight(
      {
        scenario: { fleet: { size: 120, shares: { container: 0, ephemeral: 0 } } },
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

  it('lets collectors that a person deletes leave, and the rollout goes on', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, rolloutId, end, way } = await aTroubledNight(
      {
        scenario: { fleet: { shares: { container: 0, ephemeral: 0 } } },
        rollout: { waves: [{ name: 'all', maxFailures: 0 }], concurrency: 2 },
      },
      onTestFinished,
    );
    const upgrades = await upgradesOf(daemon, rolloutId);
    const deleted = new Set(upgrades.slice(-2).map(({ identity: { collectorId } }) => collectorId));
    way.behave((passing) => {
      if (deleted.has(collectorIn(passing) ?? 0)) return unknown;
      return isList(passing) || isUpgradableList(passing) ? without(passing, deleted) : pass;
    });
    const { status } = await end();
    expect(status.state).toBe('succeeded');
    expect(status.counts.withdrawn).toBe(2);
    expect(daemon.told('inventory.doubted')).toEqual([]);
  });
});
