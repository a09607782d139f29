import { describe, expect, it } from 'vitest';
import { listPolicies } from '../../../../src/orchestrator/operations/list-policies.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import { aFleetService } from '../../../support/builders/service-builders.ts';
import {
  aBuildRecord,
  aFleet,
  aPolicy,
  aRollout,
  aWaveRule,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, failing, offering, serving } from '../../../support/house.ts';

const minute = 60_000;
const wrongKey = { listBuilds: failing({ kind: 'misconfigured', detail: 'the key is wrong' }) };

/** A daemon that scans; nothing is on its way. */
async function aScanner(
  { rollout = null, fleet }: Parameters<typeof aHouse>[0] = {},
  ticks: readonly number[] = [],
) {
  const house = await aHouse({ rollout, ...(fleet === undefined ? {} : { fleet }) });
  const parts = { ...house.parts, forecast: (_policy: string, count: number) => ticks.slice(0, count) };
  return {
    ...house,
    scans: parts.scans,
    policies: async () => (await listPolicies(parts)).policies,
    scan: (of: { readonly signal?: AbortSignal; readonly policy?: ReturnType<typeof aPolicy> } = {}) =>
      scan(parts, of.policy ?? aPolicy(), 'schedule', of.signal),
    heal: () => Object.assign(parts, { fleet: aFleetService({ listBuilds: offering() }) }),
  };
}

describe('a scan', () => {
  it('reads of the rollouts of other policies only the records of collectors that it may plan', async () => {
    const policy = aPolicy({ name: 'other' });
    const rollout = aRollout({ id: 'other-20260302-1', policy });
    const build = (id: number) => (id > 2 ? { build: targetBuild } : {});
    const { store, scan } = await aScanner({ rollout, fleet: serving(() => aFleet(1_000, build)) });
    const read: number[] = [];
    const { loadUpgrades } = store;
    store.loadUpgrades = (id, ids) => {
      read.push(...ids);
      return loadUpgrades(id, ids);
    };
    expect(await scan()).toMatchObject({ kind: 'started', planned: 2 });
    expect(read).toEqual([1, 2]);
  });

  it('puts the strata that failed in ended rollouts into the canary, and says before the approval', async () => {
    const systems = (id: number) => ({
      osName: ['Linux', 'Linux', 'Linux', 'AIX', 'AIX', 'Solaris'][id % 6] ?? '',
    });
    const policy = aPolicy({
      approval: true,
      spreadBy: ['osName'],
      waves: [aWaveRule({ name: 'canary', size: { kind: 'count', count: 1 } }), aWaveRule()],
    });
    const stratum = { label: 'Solaris', tried: 4, failed: { retry: 3 }, returned: 1, medianMs: null };
    const record = aBuildRecord({ strata: [stratum, { ...stratum, label: 'Linux', failed: {} }] });
    const house = await aHouse({ rollout: null, fleet: serving(() => aFleet(60, systems)) });
    const parts = { ...house.parts, buildHistory: { read: async () => [record] }, forecast: () => [] };
    await scan(parts, policy, 'schedule');
    const { expectedFailures } = (await makeOperations(parts).listRollouts())[0] ?? {};
    expect(expectedFailures).toMatchObject({
      tried: 8,
      riskiest: [{ label: 'Solaris', isTriedFirst: true }],
    });
    const [first] = await house.store.listUpgrades((await house.now()).id, { offset: 0, limit: 1 });
    expect(first?.identity).toMatchObject({ wave: 0, collectorId: expect.toSatisfy((id) => id % 6 === 5) });
  });

  it('asks for a start where Redis lost a rollout that had stopped, until a rollout runs (P4)', async () => {
    const house = await aHouse({ rollout: null, fleet: serving(() => aFleet(3)) });
    const lost = aRollout({ state: 'paused' });
    let stopped: typeof lost | undefined = lost;
    const memory = { ...house.parts.memory, stoppedRollout: () => stopped };
    const parts = { ...house.parts, memory, forecast: () => [] };
    const scanOnce = (fleet = house.parts.fleet) => scan({ ...parts, fleet }, aPolicy(), 'schedule');
    const status = async () => (await listPolicies(parts)).policies[0];
    const needs = {
      kind: 'start',
      reason: `Redis lost its data, and ${lost.id} was paused: by alice`,
    };
    await scanOnce();
    const reason = expect.stringContaining('upwave start production');
    expect(await status()).toMatchObject({ needs, lastScan: { outcome: 'nothing', reason } });
    house.clock.at += minute;
    await scanOnce(aFleetService(wrongKey));
    expect(await status()).toMatchObject({ needs, lastScan: { outcome: 'failed' } });
    house.clock.at += minute;
    stopped = undefined;
    await scanOnce();
    expect(await status()).not.toHaveProperty('needs');
  });

  it('asks for no start while a rollout of the policy runs', async () => {
    const { scans, policies, clock } = await aScanner({ rollout: aRollout() });
    const needs = { kind: 'start', reason: 'Redis lost its data' } as const;
    const entry = {
      policy: 'production',
      outcome: 'nothing',
      at: clock.at,
      reason: '',
      overdueAt: 0,
    } as const;
    await scans.note({ ...entry, needs });
    expect(await policies()).toMatchObject([{ lastScan: { outcome: 'nothing' } }]);
    expect((await policies())[0]).not.toHaveProperty('needs');
  });

  it('leaves out the collectors of a held group, also after the rollout in which it was held (P4, P5)', async () => {
    const systems = (id: number) => ({ osName: id > 3 ? 'AIX' : 'Linux' });
    const { register, scan, now } = await aScanner({ fleet: serving(() => aFleet(10, systems)) });
    const attributes = [{ key: 'osName', value: 'AIX' }];
    await register.holdGroup({
      label: 'osName=AIX',
      attributes,
      by: 'ann',
      reason: 'no',
      at: startedAt - 600_000,
    });
    expect(await scan()).toMatchObject({ kind: 'started', planned: 3 });
    expect((await now()).plan.leftOut).toMatchObject([{ kind: 'held', count: 7 }]);
  });

  it('is stored for all daemons with its time, its outcome, the last success and the next scan', async () => {
    const nextScanAt = startedAt + 15 * minute;
    const { policies, scan, clock, heal } = await aScanner({ fleet: wrongKey }, [nextScanAt]);
    const config = { kind: 'agreed', others: 0 };
    expect(await policies()).toEqual([
      { policy: 'production', lastScan: null, lastGoodAt: null, nextScanAt, config },
    ]);
    await scan();
    const reason = expect.stringContaining('the key is wrong');
    expect(await policies()).toMatchObject([
      { lastScan: { at: startedAt, outcome: 'failed', reason }, lastGoodAt: null },
    ]);
    clock.at += minute;
    heal();
    await scan();
    expect(await policies()).toMatchObject([
      { lastScan: { at: clock.at, outcome: 'nothing' }, lastGoodAt: clock.at },
    ]);
  });

  it.each([
    ['an hour, where the schedule is quick', 15 * minute, 60 * minute],
    ['three times of a slow schedule', 1_440 * minute, 3 * 1_440 * minute],
  ])('is overdue when no other one follows within %s', async (_what, every, within) => {
    const ticks = [1, 2, 3].map((tick) => startedAt + tick * every);
    const { scans, scan } = await aScanner({}, ticks);
    await scan();
    expect(await scans.read()).toMatchObject([{ overdueAt: startedAt + within }]);
  });

  it('that fails under a slow schedule is retried after 1 to 15 minutes, later the longer scans have failed', async () => {
    const { scan, scans, clock, policies, heal } = await aScanner({ fleet: wrongKey }, [
      startedAt + 10_080 * minute,
    ]);
    const waits: number[] = [];
    for (let failed = 0; failed < 7; failed += 1) {
      const { againAt = 0 } = await scan();
      expect(await policies()).toMatchObject([{ nextScanAt: againAt }]);
      waits.push((againAt - clock.at) / minute);
      clock.at = againAt;
    }
    expect(waits).toEqual([1, 1, 2, 4, 8, 15, 15]);
    heal();
    expect(await scan()).not.toHaveProperty('againAt');
    expect(await policies()).toMatchObject([{ nextScanAt: startedAt + 10_080 * minute }]);
    expect((await scans.read()).map(({ outcome }) => outcome)).toContain('nothing');
  });

  it('that fails just before the next scheduled scan is not retried before it', async () => {
    const nextTickAt = startedAt + minute;
    const { scan, policies } = await aScanner({ fleet: wrongKey }, [nextTickAt]);
    expect(await scan()).not.toHaveProperty('againAt');
    expect(await policies()).toMatchObject([{ nextScanAt: nextTickAt }]);
  });

  it.each([
    ['the available builds', {}],
    ['the fleet', { listBuilds: offering(targetBuild) }],
  ])('that cannot read %s for the active rollout counts as failed', async (what, fleet) => {
    const rollout = aRollout();
    const { scans, notes, policies, scan } = await aScanner({ rollout, fleet });
    expect(await scan()).toMatchObject({ kind: 'busy', rolloutId: rollout.id });
    const reason = expect.stringMatching(new RegExp(`^${rollout.id} was still running, .*${what}`));
    expect(await scans.read()).toMatchObject([{ outcome: 'failed', reason }]);
    expect(await policies()).toMatchObject([{ lastGoodAt: null }]);
    expect(notes).toMatchObject([{ event: 'scan.failed', policy: 'production', reason }]);
  });

  it('that selects no collector asks to check select, as `plan` does', async () => {
    const { scan, scans } = await aScanner({ fleet: serving(() => aFleet(3)) });
    const policy = aPolicy({ select: { include: { name: ['nobody-*'] }, exclude: [] } });
    expect(await scan({ policy })).toMatchObject({ kind: 'nothing', why: { kind: 'nobody' } });
    const reason =
      'the policy matches nothing: none of the 3 installed collectors is selected; check select in the policy (not selected: 3)';
    expect(await scans.read()).toMatchObject([{ reason }]);
  });

  it('is known before the first rollout of its policy, so that a rename of it loses no rollout (P1)', async () => {
    const { store, scans, scan } = await aScanner({ fleet: serving(() => aFleet(3)) });
    const freeze = store.freeze;
    let known: readonly string[] = [];
    store.freeze = async (frozen) => {
      known = (await scans.read()).map(({ policy }) => policy);
      return freeze(frozen);
    };
    expect(await scan()).toMatchObject({ kind: 'started' });
    expect(known).toEqual(['production']);
  });

  it('that was cancelled stores nothing', async () => {
    const { scans, scan } = await aScanner();
    await scan({ signal: AbortSignal.abort() });
    expect(await scans.read()).toEqual([]);
  });
});

describe('a scan of a fleet that is much smaller than at the last scan (P14)', () => {
  /** A fleet that shows so many; all run the build, so that no rollout begins. */
  async function aFleetThatShows(size: number) {
    const shown = { size };
    const fleet = serving(() => aFleet(shown.size, () => ({ build: targetBuild })));
    const { scan, clock } = await aScanner({ fleet });
    return { shown, clock, scan, kind: async () => (await scan()).kind };
  }

  it.each([60, 0])('fails, and makes no plan for %i of 120 collectors', async (size) => {
    const { shown, scan, kind } = await aFleetThatShows(120);
    expect(await kind()).toBe('nothing');
    shown.size = size;
    expect(await scan()).toMatchObject({
      kind: 'failed',
      // Not `unavailable`: a command would ask again for half a minute, and say that it can't reach the service.
      why: { kind: 'shortInventory', size, before: 120 },
    });
    shown.size = 118;
    expect(await kind()).toBe('nothing');
  });

  it('accepts the smaller fleet when it stays so for an hour', async () => {
    const { shown, clock, kind } = await aFleetThatShows(120);
    await kind();
    shown.size = 60;
    clock.at += 1_440 * minute;
    expect(await kind()).toBe('failed');
    clock.at += 59 * minute;
    expect(await kind()).toBe('failed');
    clock.at += minute;
    expect(await kind()).toBe('nothing');
    expect(await kind()).toBe('nothing');
  });
});
