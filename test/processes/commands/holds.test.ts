import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { aBuildRecord, startedAt } from '../../support/builders.ts';
import { makeFakeOperations } from '../../support/fake-operations.ts';
import { nightCredentials } from '../../support/night/daemon-night.ts';
import { aDesk, type RunningTest } from '../../support/night/upwave-desk.ts';
import { startFakeAdminApi } from '../../support/start-fake-admin-api.ts';

const by = { by: 'ann', reason: 'the disks are full', at: startedAt };
const attributes = [{ key: 'osName', value: 'Windows*' }];
const windowsHeld = {
  builds: [],
  collectors: [],
  groups: [{ label: 'osName=Windows*', attributes, ...by }],
  strata: [],
};

const linux = [{ key: 'osName', value: 'Linux' }];
const failedBefore = aBuildRecord({ build: '19.1-1', groups: [{ attributes: linux, tried: 9, failed: 8 }] });

/** A service with a fleet of 60, a daemon that holds all Windows, and a config for both. */
async function aHeldFleet(test: RunningTest) {
  const service = await startReferenceService({
    credentials: [nightCredentials],
    speed: 1,
    // The calls follow each other faster than a person's.
    scenario: parseScenario({ fleet: { size: 60 }, limits: { requestsPerSecond: 100 } }),
  });
  test.onTestFinished(service.close);
  const daemon = await startFakeAdminApi(
    makeFakeOperations({ rollouts: [], held: windowsHeld, buildRecords: [failedBefore] }),
  );
  test.onTestFinished(daemon.close);
  const desk = aDesk(test, {
    service: { baseUrl: `${service.url}/api`, ...nightCredentials },
    http: { port: Number(new URL(daemon.url).port) },
    rollouts: [{ name: 'production', timeZone: 'UTC' }],
  });
  const withoutDaemon = () => desk.change({ http: { port: 1 } });
  return { desk, withoutDaemon };
}

interface PlanAnswer {
  readonly holdsKnown: boolean;
  readonly plans: ReadonlyArray<{
    readonly planned: number;
    readonly leftOut: ReadonlyArray<{ readonly kind: string; readonly count: number }>;
  }>;
}

const unknown =
  /holds: +not known here: no answer from http:\/\/127\.0\.0\.1:1: .*\. `upwave start POLICY` shows the plan/;

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

describe('the holds of operators', () => {
  it('count in a plan, which says where no daemon answers that it does not know them', async (test) => {
    const { desk, withoutDaemon } = await aHeldFleet(test);
    const planOf = async () => {
      const { code, out, all } = await desk.call('plan', '--json');
      expect(code, all).toBe(0);
      return JSON.parse(out) as PlanAnswer;
    };
    const { out: shown } = await desk.call('plan');
    expect(shown).not.toContain('holds:');
    // The history comes with the holds.
    expect(oneLine(shown)).toMatch(
      /expected: About \d+ of \d+ collectors are expected to fail, judging by 10 upgrades/,
    );
    expect(oneLine(shown)).toMatch(/expected: Wave \S+ includes osName=Linux, where 8 of 9 failed before\./);
    const withHolds = await planOf();
    withoutDaemon();
    const { code, out } = await desk.call('plan');
    expect([code, oneLine(out)]).toEqual([0, expect.stringMatching(unknown)]);
    expect(out).not.toContain('expected:');
    const without = await planOf();
    const heldIn = ({ plans }: PlanAnswer) => plans[0]?.leftOut.find(({ kind }) => kind === 'held')?.count;
    const held = heldIn(withHolds) ?? 0;
    expect(held).toBeGreaterThan(0);
    expect(heldIn(without)).toBe(undefined);
    expect([withHolds.holdsKnown, without.holdsKnown]).toEqual([true, false]);
    expect(withHolds.plans[0]?.planned).toBeLessThan(without.plans[0]?.planned ?? 0);
    // A daemon that the operator names has to answer.
    expect(await desk.call('plan', '--url', 'http://127.0.0.1:1')).toMatchObject({ code: 4 });
  });

  it('count in a rehearsal, which says where no daemon answers that it does not know them', async (test) => {
    const { desk, withoutDaemon } = await aHeldFleet(test);
    const play = ['rehearse', '--seeds', '1', '--no-variants', '--at', '2026-11-22T21:00Z'];
    const jsonOf = async () => JSON.parse((await desk.call(...play, '--json')).out);
    expect(oneLine((await desk.call(...play)).out)).toMatch(
      /holds: \d+ collectors left out, held by an operator/,
    );
    const withHolds = await jsonOf();
    withoutDaemon();
    expect(oneLine((await desk.call(...play)).out)).toMatch(unknown);
    const without = await jsonOf();
    expect([withHolds.holdsKnown, without.holdsKnown]).toEqual([true, false]);
    expect(withHolds.planned).toBeLessThan(without.planned);
  });

  it('count in a rehearsal as in a plan, and explain why a build that breaks them harms none', async (test) => {
    const { desk } = await aHeldFleet(test);
    desk.change({ rollouts: [{ name: 'production', timeZone: 'UTC', select: { share: '50%' } }] });
    const plan = JSON.parse((await desk.call('plan', '--json')).out) as PlanAnswer;
    const held = plan.plans[0]?.leftOut.find(({ kind }) => kind === 'held')?.count ?? 0;
    expect(held).toBeGreaterThan(0);
    const file = desk.write('what-if.yaml', { breaks: [{ match: { osName: 'Windows*' } }] });
    const { out } = await desk.call('rehearse', '--seeds', '1', '--no-variants', '--what-if', file);
    expect(oneLine(out)).toContain(`holds: ${held} collectors left out, held by an operator`);
    expect(oneLine(out)).toMatch(
      new RegExp(`only collectors that are not in the plan \\(.*held by an operator: ${held}\\b`),
    );
  });

  it('are not asked for where the fleet comes from a file, except with --url', async (test) => {
    const { desk } = await aHeldFleet(test);
    const fleet = desk.write('fleet.json', (await desk.call('collectors', 'list', '--json')).out);
    const { out } = await desk.call('rehearse', '--fleet', fleet, '--build', '19.536-4', '--seeds', '1');
    expect(oneLine(out)).toContain('holds: not known here: with --fleet, a daemon is asked only with --url.');
  });
});
