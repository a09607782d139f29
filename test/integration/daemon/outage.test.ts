import { describe, it } from 'vitest';
import { apiBudgetKeys } from '../../../src/redis/api-budget/ledger.ts';
import { startWayToService, type WayToService } from '../../support/network/way-to-service.ts';
import {
  aDaemonNight,
  nightCredentials,
  nightPolicy,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createsOf } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const rollout = {
  waves: [{ name: 'all', maxFailures: '100%' }],
  // On a slow machine an outage lasts for half a minute, whose end nobody's time may run out before.
  upgrade: { deadline: '100s', verifyWithin: '60s', expect: '600ms' },
};
// A create without an answer is settled when its answer can't come any more, so a short time-out makes a short test; one
// so short that a busy machine gives no answer within it would make an outage of its own.
const service = { requestTimeout: '3s' };
// The ledger's own: how long a service is left alone at first when it is down.
const firstPauseMs = 1_000;

type Instead = NonNullable<Parameters<typeof startWayToService>[1]>['answerInstead'];

async function aNight(
  instead: Instead,
  {
    onTestFinished,
    allowsService = false,
  }: { onTestFinished: (work: () => Promise<void>) => void; allowsService?: boolean },
  config = redis.config(),
) {
  let way: WayToService | undefined;
  const allowedHosts: string[] = [];
  onTestFinished(async () => way?.close());
  const night = await aDaemonNight(
    {
      redis: config,
      scenario: { fleet: { size: 15 } },
      rollout,
      service: { ...service, allowedHosts },
      through: async (serviceUrl) => {
        if (allowsService) allowedHosts.push(new URL(serviceUrl).host);
        way = await startWayToService(serviceUrl, { ...(instead && { answerInstead: instead }) });
        return way.url;
      },
    },
    onTestFinished,
  );
  return { night, way };
}

describe.concurrent('a service that is down for a while', () => {
  it('is told of once by each daemon, in log, readiness and metric; the rollout goes on by itself, and well', async ({
    expect,
    onTestFinished,
  }) => {
    let isDown = false;
    const triesAt: number[] = [];
    const config = redis.config();
    const { night } = await aNight(
      () => {
        if (!isDown) return undefined;
        triesAt.push(performance.now());
        return { status: 503 };
      },
      { onTestFinished },
      config,
    );
    const daemons = [await night.startDaemon(), await night.startDaemon()] as const;
    const [daemon] = daemons;
    const rolloutId = await scan(daemon);
    await until('the first creates', () => createsOf(night.record()).size > 4);
    isDown = true;
    // Whatever each of them happens to have to do, it asks for something now.
    const scans = daemons.map((each) => each.daemon.scanNow(nightPolicy, 'operator'));
    await until('both daemons to know', () => daemons.every((each) => each.told('service.down').length > 0));
    const knownAt = performance.now();
    const { commands } = redis.connect();
    const { state } = apiBudgetKeys(config.keyPrefix, nightCredentials.accessId);
    // How long the service is left alone: twice as long after each try that failed, and the same for all daemons.
    const failedTries = async () => Math.log2(Number(await commands.hget(state, 'growthMs')) / firstPauseMs);
    for (const each of daemons) {
      const ready = await each.get('/readyz');
      expect(ready.status).toBe(503);
      expect(ready.text).toContain('one request at a time tries it');
      expect(ready.text).toContain('answered 503');
      expect((await each.get('/metrics')).text).toContain('upwave_service_up 0');
    }
    await until('a try to fail', async () => (await failedTries()) >= 1);
    const triesSince = (sinceMs: number) => triesAt.filter((at) => at > knownAt + sinceMs).length;
    const [tries, later] = [triesSince(0), triesSince(firstPauseMs / 2)];
    // However slow this machine is, each try that failed made the pause longer; one more may be on its way.
    const triesMax = (await failedTries()) + 1;
    expect(later).toBeLessThanOrEqual(triesMax);
    // What had left before anyone knew arrives in the first moments.
    expect(tries).toBeLessThan(triesMax + 4);
    isDown = false;
    const status = await untilEnded(daemon, rolloutId);
    expect(status.state).toBe('succeeded');
    await until('both daemons to know', () => daemons.every((each) => each.told('service.up').length > 0));
    for (const each of daemons) {
      expect(each.told('service.down')).toMatchObject([
        { level: 'warn', reason: expect.stringContaining('answered 503') },
      ]);
      expect(each.told('service.up')).toMatchObject([{ level: 'info' }]);
      expect((await each.get('/readyz')).status).toBe(200);
      expect((await each.get('/metrics')).text).toContain('upwave_service_up 1');
    }
    await Promise.all(scans);
    const upgrades = await upgradesOf(daemon, rolloutId);
    // Nothing that happened meanwhile has cost anyone an attempt; one whose answer came too late has none to his name.
    expect(upgrades.filter(({ tally: { attempts } }) => attempts > 1)).toEqual([]);
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
  });
});

describe.concurrent('an access key that is refused', () => {
  it('after it has worked is taken for throttled by a daemon that just started', async ({
    expect,
    onTestFinished,
  }) => {
    let isRefused = false;
    const { night } = await aNight(() => (isRefused ? { status: 401 } : undefined), { onTestFinished });
    const first = await night.startDaemon();
    await untilEnded(first, await scan(first));
    await first.close();
    isRefused = true;
    const second = await night.startDaemon();
    const result = await second.daemon.scanNow(nightPolicy, 'operator');
    expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining('worked before') });
    expect(second.told('service.throttled')).toMatchObject([{ reason: '401' }]);
  });

  it('and never worked is wrong at its first use', async ({ expect, onTestFinished }) => {
    const { night } = await aNight(() => ({ status: 401 }), { onTestFinished });
    const daemon = await night.startDaemon();
    const result = await daemon.daemon.scanNow(nightPolicy, 'operator');
    expect(result).toMatchObject({ kind: 'failed', cause: 'misconfigured' });
    expect((await daemon.operations.listPolicies()).policies).toMatchObject([
      { policy: nightPolicy, lastScan: { outcome: 'failed' }, lastGoodAt: null },
    ]);
    await until('a leader to tell it', async () =>
      (await daemon.get('/metrics')).text.includes(
        'upwave_last_scan_timestamp_seconds{policy="night",result="failed"}',
      ),
    );
    expect(daemon.told('service.throttled')).toEqual([]);
  });
});

describe.concurrent('an account that has moved', () => {
  it('to an allowed host is followed, and the right address told once', async ({
    expect,
    onTestFinished,
  }) => {
    let serviceUrl = '';
    const { night } = await aNight(
      (url) => ({
        status: 301,
        headers: { location: `${serviceUrl}${url}?key=${nightCredentials.accessKey}` },
      }),
      { onTestFinished, allowsService: true },
    );
    serviceUrl = night.service.url;
    const daemon = await night.startDaemon();
    const status = await untilEnded(daemon, await scan(daemon));
    expect(status.state).toBe('succeeded');
    const notes = daemon.told('service.moved');
    expect(notes).toMatchObject([{ level: 'warn', reason: expect.stringContaining(`${serviceUrl}/api,`) }]);
    expect(notes[0]?.reason).not.toContain('key=');
  });
});
