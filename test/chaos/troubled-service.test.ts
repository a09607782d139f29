import { setTimeout as wait } from 'node:timers/promises';
import { describe, it } from 'vitest';
import type { Trouble } from '../support/network/troubled-way.ts';
import { aChaosNight, type ChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

const troubleMs = 1_500;

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };
const page = '<html><body><h1>Bad gateway</h1></body></html>';
const tooMany = JSON.stringify({ errors: [{ code: 'rate.limit.exceeded', message: 'slow down' }] });
const wrongKey = JSON.stringify({ code: 'unauthorized', message: 'Credential could not be verified' });
const broken = JSON.stringify({ code: 'internal.error', message: 'Internal server error.' });

const troubles: Readonly<Record<string, Trouble>> = {
  500: { kind: 'answer', status: 500, headers: json, body: broken },
  '502 in HTML': { kind: 'answer', status: 502, headers: html, body: page },
  '200 in HTML': { kind: 'answer', status: 200, headers: html, body: page },
  'half answers': { kind: 'half' },
  'no answers': { kind: 'lose' },
  nothing: { kind: 'swallow' },
  'slow answers': { kind: 'pass', delayMs: 700 },
  429: { kind: 'answer', status: 429, headers: json, body: tooMany },
};

// Together, since one of them does little but wait.
describe.skipIf(isShort)('a service with faults', { concurrent: true }, () => {
  const redis = useRedisProcess();

  it('restarts, and answers in every wrong way or not at all: the rollout succeeds, with one task for each collector (P1, P8, P13)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      { redis: redis.config('troubled'), scenario: { fleet: { size: 230 } }, daemons: 2 },
      onTestFinished,
    );
    const quiet: string[] = [];
    const after = async (words: string, trouble: () => Promise<void>) => {
      await night.createsReach(night.record().creates.length + 10);
      await trouble();
      quiet.push(`${words} ${timesText([(await quietAfter(night)).createMs])}`);
    };
    await after('restart', async () => {
      await night.service.stop();
      await wait(troubleMs);
      await night.service.startAgain();
    });
    for (const [words, trouble] of Object.entries(troubles)) {
      await after(words, () => inTrouble(night, trouble, troubleMs));
    }
    const end = await night.end();
    report(`service in trouble for ${troubleMs} ms: next create after ${quiet.join(' · ')}`);
    expect(end.broken).toEqual([]);
  });

  it('refuses a key that has worked, as a throttled sign-in does: all wait, and nothing is held (P8)', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aChaosNight(
      { redis: redis.config('signin'), scenario: { fleet: { size: 40 } }, daemons: 2, creates: 10 },
      onTestFinished,
    );
    await inTrouble(night, { kind: 'answer', status: 401, headers: json, body: wrongKey }, troubleMs);
    const before = night.record().creates.length;
    const { status, broken: wrong } = await night.end(150_000);
    const throttled = night.daemons().flatMap((daemon) => daemon.logged('service.throttled'));
    report(
      `key refused for ${troubleMs} ms: ${throttled.length} pauses, ${before} of ${status.planned} created before`,
    );
    expect(wrong).toEqual([]);
    expect(throttled.length).toBeGreaterThan(0);
    expect(before).toBeLessThan(status.planned);
  });
});

/** On every daemon's way, for a while. */
async function inTrouble(night: ChaosNight, trouble: Trouble, forMs: number): Promise<void> {
  for (const { way } of night.daemons()) way.behave(() => trouble);
  await wait(forMs);
  for (const { way } of night.daemons()) way.behave(() => ({ kind: 'pass' }));
}
