import { describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { scanText } from '../../../src/rollout/messages/scans.ts';
import { readConfig } from '../../support/config-fixtures.ts';
import type { Trouble } from '../../support/network/troubled-way.ts';
import {
  createsReach,
  nightPolicy,
  scan,
  startDaemon,
  statusOf,
  twoAccountsConfig,
  untilEnded,
} from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import type { RunningTest } from '../../support/night/upwave-desk.ts';
import { until } from '../../support/until.ts';

const { redis, aNight } = useNights();
const pass: Trouble = { kind: 'pass' };
const down: Trouble = { kind: 'answer', status: 503, headers: {}, body: '' };
const [ofEu, ofUs] = [`${nightPolicy}-eu`, `${nightPolicy}-us`];

/** Two services with a fleet each, and a daemon with one policy for both. */
async function twoAccounts(test: RunningTest, learning?: { readonly inEu: ScenarioInput }) {
  const config = redis.config();
  const shares = { container: 0, ephemeral: 0, mac: 0 };
  const night = (seed: string, scenario: ScenarioInput) =>
    aNight(test, {
      redis: config,
      behave: () => pass,
      scenario: { fleet: { size: 12, seed, shares }, ...scenario },
    });
  const [eu, us] = [await night('eu', learning?.inEu ?? {}), await night('us', {})];
  const file = twoAccountsConfig(eu, us);
  const waves = [{ name: 'canary', size: 1, soak: '0s' }, { name: 'rest' }];
  const learns = { learnFrom: 'accounts', rollouts: [{ ...file.rollouts[0], waves }] };
  const both = readConfig(JSON.stringify({ ...file, ...(learning && learns) }));
  const daemon = await startDaemon(both, { redis: config });
  test.onTestFinished(() => daemon.close());
  return { eu, us, daemon };
}

describe.concurrent('a daemon with two accounts', () => {
  it('is ready while the access key of one is wrong, and shows which one in /readyz and metrics (P16)', async (test) => {
    const { eu, us, daemon } = await twoAccounts(test);
    eu.way?.behave(() => ({ kind: 'answer', status: 401, headers: {}, body: '' }));
    const failed = await daemon.daemon.scanNow(ofEu, 'schedule');
    expect(failed.kind).toBe('failed');
    expect((await untilEnded(daemon, await scan(daemon, ofUs))).state).toBe('succeeded');
    expect(us.record().creates.length).toBeGreaterThan(0);
    const ready = await daemon.get('/readyz');
    const accounts = {
      eu: { ok: false, reason: expect.stringContaining('401') },
      us: { ok: true, reason: 'answers' },
    };
    expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
      200,
      { ready: true, checks: { service: { ok: true, accounts } } },
    ]);
    const { text } = await daemon.get('/metrics');
    expect(text).toMatch(/^upwave_service_up\{account="eu"\} 0$/m);
    expect(text).toMatch(/^upwave_service_up\{account="us"\} 1$/m);
  });

  it('tries a build that is bad in one account in no other, where they learn, until its release', async (test) => {
    const failures = [{ outcome: 'failed', message: 'permission denied' } as const];
    const { us, daemon } = await twoAccounts(test, { inEu: { failures } });
    const inEu = await scan(daemon, ofEu);
    await until('the build to be held', async () => (await statusOf(daemon, inEu)).buildHold !== null);
    const inUs = await daemon.daemon.scanNow(ofUs, 'schedule');
    expect(scanText(inUs)).toMatch(new RegExp(`is held: in account eu: ${inEu}`));
    expect(us.record().creates).toEqual([]);

    const { build = '' } = (await statusOf(daemon, inEu)).buildHold ?? {};
    await daemon.daemon.operations.release({ subject: build, by: 'ann', reason: '' });
    expect((await untilEnded(daemon, await scan(daemon, ofUs))).state).toBe('succeeded');
  });

  it('names the account of each rollout and each policy', async (test) => {
    const { daemon } = await twoAccounts(test);
    const [inEu, inUs] = [await scan(daemon, ofEu), await scan(daemon, ofUs)];
    const { rollouts } = JSON.parse((await daemon.get('/api/v1/rollouts')).text);
    const named = rollouts.map((each: { id: string; accountName?: string }) => [each.id, each.accountName]);
    expect(Object.fromEntries(named)).toEqual({ [inEu]: 'eu', [inUs]: 'us' });
    const { policies } = JSON.parse((await daemon.get('/api/v1/policies')).text);
    expect(policies).toMatchObject([
      { policy: ofEu, accountName: 'eu' },
      { policy: ofUs, accountName: 'us' },
    ]);
  });

  it('continues in one account during an outage of the service of the other, and then in the other', async (test) => {
    const { eu, us, daemon } = await twoAccounts(test);
    const inEu = await scan(daemon, ofEu);
    await createsReach(eu, 1);
    eu.way?.behave(() => down);
    const ofService = async (rolloutId: string) => (await statusOf(daemon, rolloutId)).api?.outage?.kind;
    await until('the outage to be known', async () => (await ofService(inEu)) === 'serviceDown');

    const inUs = await scan(daemon, ofUs);
    expect((await untilEnded(daemon, inUs)).state).toBe('succeeded');
    expect(us.record().creates.length).toBeGreaterThan(0);
    expect(createdTwice(us.record())).toEqual([]);
    expect((await statusOf(daemon, inEu)).endedAt).toBeNull();
    expect(await ofService(inEu)).toBe('serviceDown');
    const ready = await daemon.get('/readyz');
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.text)).toMatchObject({
      checks: { service: { ok: true, reason: expect.stringMatching(/eu: down since .*; us: answers/) } },
    });
    const { text } = await daemon.get('/metrics');
    expect(text).toMatch(/^upwave_service_up\{account="eu"\} 0$/m);
    expect(text).toMatch(/^upwave_service_up\{account="us"\} 1$/m);
    expect(text.match(/^# HELP upwave_service_up /gm)).toHaveLength(1);
    expect(daemon.reported('service.down')).toMatchObject([{ account: 'eu' }]);

    eu.way?.behave(() => pass);
    expect((await untilEnded(daemon, inEu)).state).toBe('succeeded');
    expect(createdTwice(eu.record())).toEqual([]);
    // Each by its own budget.
    for (const { throttled } of [eu.record(), us.record()])
      expect(throttled).toMatchObject({ rate: 0, concurrency: 0 });
  });
});
