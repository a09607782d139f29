import { describe, expect, it } from 'vitest';
import type { OtherPolicy } from '../../../src/rehearsal/play/agenda.ts';
import { playSeed, type Scene } from '../../../src/rehearsal/play/play-seed.ts';
import { fleetAsOf } from '../../../src/rehearsal/world/virtual-service.ts';
import type { WhatIf } from '../../../src/rehearsal/world/what-if.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { aWebhookGate } from '../../support/builders/gate-builders.ts';
import { aWhatIf } from '../../support/builders/rehearsal-builders.ts';
import { aFleet, aPolicy, aWaveRule, startedAt, targetBuild } from '../../support/builders.ts';

const minute = 60_000;
const hour = 60 * minute;

const canary = aWaveRule({
  name: 'canary',
  size: { kind: 'perStratum', count: 1 },
  soakMs: hour,
  maxFailures: { kind: 'count', count: 0 },
});
const rest = aWaveRule({ name: 'rest', soakMs: 0 });

/** 40 collectors, of which each fourth is in rack r7 and runs Windows. */
const collectors = aFleet(40, (id) => ({
  osName: id % 4 === 0 ? 'Windows Server 2022' : 'Linux',
  fields: { rack: id % 4 === 0 ? 'r7' : 'r1' },
})).collectors;

function play(
  whatIf: Partial<WhatIf>,
  policy: Partial<Policy> = {},
  of: {
    readonly seed?: number;
    readonly requestsPerSecond?: number;
    readonly fleet?: readonly FleetCollector[];
    /** Collectors that are up, and to which the service does not offer the build. */
    readonly notOffered?: readonly number[];
    readonly builds?: readonly string[];
    readonly others?: readonly OtherPolicy[];
    readonly scansAt?: readonly number[];
  } = {},
) {
  const {
    seed = 1,
    requestsPerSecond = 4,
    fleet = collectors,
    notOffered = [],
    builds,
    others,
    scansAt,
  } = of;
  const snapshot = fleetAsOf(fleet, startedAt);
  const scene: Scene = {
    targetBuild,
    snapshot: {
      ...snapshot,
      upgradableIds: new Set([...snapshot.upgradableIds].filter((id) => !notOffered.includes(id))),
    },
    ...(builds && { builds }),
    ...(others && { others }),
    ...(scansAt && { scansAt }),
    beganAt: startedAt,
    whatIf: aWhatIf(whatIf),
    requestsPerSecond,
    passPauseMs: 1_000,
  };
  const careful = { waves: [canary, rest], spreadBy: ['osName'] as const, isolate: 'off' as const };
  return playSeed(scene, aPolicy({ ...careful, ...policy }), seed);
}

const on = (osName: string) => ({ include: { osName: [osName] }, exclude: [] });

/** Another policy that upgrades the collectors with Linux. */
function anOther(changes: Partial<OtherPolicy> = {}): OtherPolicy {
  const linux = {
    name: 'linux',
    waves: [rest],
    select: on('Linux'),
    concurrency: 40,
  };
  const policy = aPolicy({ ...linux, isolate: 'off' });
  const upgradableIds = new Set(collectors.map(({ id }) => id));
  return { policy, targetBuild, upgradableIds, startsAt: startedAt, ...changes };
}

const onWindows = { match: { osName: ['Windows*'] }, share: 1, afterMs: 0 } as const;

describe('a rehearsed rollout', () => {
  it('upgrades all collectors when no failure is assumed', async () => {
    const result = await play({});
    expect(result).toMatchObject({ state: 'succeeded', planned: 40, harmed: 0, othersDone: 40 });
    const [first, second] = result.waves;
    expect((second?.openedAt ?? 0) - (first?.openedAt ?? 0)).toBeGreaterThan(hour);
    expect(result.requests).toBeGreaterThan(40);
  });

  it('is the same for the same seed, and another one for another', async () => {
    const whatIf = {
      failures: { once: 0.2, always: 0 },
      durations: { medianMs: 5 * minute, p95Ms: 20 * minute },
    };
    const policy = { waves: [rest] };
    expect(await play(whatIf, policy)).toEqual(await play(whatIf, policy));
    expect((await play(whatIf, policy)).tookMs).not.toBe((await play(whatIf, policy, { seed: 2 })).tookMs);
  });

  it.each(['fails', 'neverReturns'] as const)(
    'is held in the canary by a build that breaks a stratum: %s',
    async (how) => {
      const result = await play({ breaks: [{ ...onWindows, how }] });
      expect(result).toMatchObject({ state: 'held', broken: 10, harmed: 1, othersDone: 1 });
      expect(result.waves.map(({ passedAt }) => passedAt)).toEqual([null, null]);
    },
  );

  it('keeps its night: the waves with their soaks, and a hold with its reason', async () => {
    const breaks = [{ ...onWindows, how: 'fails' }] as const;
    const { night, reason, tookMs } = await play({ breaks });
    expect(night.bands).toEqual([{ kind: 'hold', from: startedAt + tookMs, to: null, reason, by: 'daemon' }]);
    const kindsOf = (of: typeof night) => of.lanes.map(({ spans }) => spans.map(({ kind }) => kind));
    expect(kindsOf(night)).toEqual([['upgrade'], []]);
    const well = await play({});
    expect(kindsOf(well.night)).toEqual([['upgrade', 'soak'], ['upgrade']]);
  });

  it('detects collectors that die hours later in a soak that is long enough, and else harms all of them', async () => {
    const breaks = [{ ...onWindows, how: 'dies', afterMs: 3 * hour }] as const;
    const long = { waves: [{ ...canary, soakMs: 6 * hour }, rest] };
    expect(await play({ breaks })).toMatchObject({ harmed: 10 });
    expect(await play({ breaks }, long)).toMatchObject({ state: 'held', harmed: 1 });
  });

  it('breaks a share of those that match a field', async () => {
    const breaks = [{ match: { fields: { rack: ['r7'] } }, share: 0.5, how: 'fails', afterMs: 0 }] as const;
    const { broken } = await play({ breaks });
    expect(broken).toBeGreaterThan(0);
    expect(broken).toBeLessThan(10);
  });

  it('sends nothing in an outage, and goes on after it', async () => {
    const from = startedAt + minute;
    const to = from + 3 * hour;
    const result = await play({ disturbances: [{ from, to, requestsPerSecond: 0 }] }, { waves: [rest] });
    expect(result.state).toBe('succeeded');
    expect(result.tookMs).toBeGreaterThan(3 * hour);
  });

  it('adds collectors that come up again to the last wave, with the next scan', async () => {
    const fleet = collectors.map((each) => ({ ...each, alive: each.id > 10 }));
    const upAgain = { share: 1, withinMs: 20 * minute };
    const scansAt = [startedAt + 30 * minute];
    const result = await play({ upAgain }, {}, { fleet, scansAt });
    expect(result).toMatchObject({ state: 'succeeded', planned: 30, joined: 10, othersDone: 40 });
    expect(await play({ upAgain }, {}, { fleet, scansAt: [] })).toMatchObject({ joined: 0, othersDone: 30 });
    expect(await play({}, {}, { fleet, scansAt })).toMatchObject({ joined: 0, othersDone: 30 });
    const some = await play({ upAgain: { ...upAgain, share: 0.5 } }, {}, { fleet, scansAt });
    expect(some.joined).toBeGreaterThan(0);
    expect(some.joined).toBeLessThan(10);
  });

  it('adds collectors that are installed to the last wave, each like one that the service would upgrade', async () => {
    const installed = { count: 8, withinMs: 20 * minute };
    const scansAt = [startedAt + 30 * minute];
    const fleet = collectors.map((each) => ({ ...each, alive: each.osName === 'Linux' }));
    const result = await play({ installed }, {}, { fleet, scansAt });
    expect(result).toMatchObject({ state: 'succeeded', planned: 30, joined: 8, othersDone: 38 });
    const early = await play({ installed }, {}, { fleet, scansAt: [startedAt + minute] });
    expect(early.joined).toBeLessThan(8);
    const breaks = [{ ...onWindows, how: 'fails' }] as const;
    expect(await play({ installed, breaks }, {}, { fleet, scansAt })).toMatchObject({ joined: 8, broken: 0 });
    const newOnes = [{ match: { name: ['*-new-*'] }, share: 1, how: 'fails', afterMs: 0 }] as const;
    const waves = [canary, { ...rest, maxFailures: { kind: 'count', count: 40 } as const }];
    const harmed = await play({ installed, breaks: newOnes }, { waves }, { fleet, scansAt });
    expect(harmed).toMatchObject({ joined: 8, broken: 8, harmed: 8, othersDone: 30 });
  });

  it('does not add a collector to which the service does not offer the build', async () => {
    const of = { notOffered: [1, 2, 3], scansAt: [startedAt + 30 * minute] };
    const result = await play({ installed: { count: 5, withinMs: minute } }, {}, of);
    expect(result).toMatchObject({ planned: 37, joined: 5, othersDone: 42 });
  });

  it('harms a collector that joins, where the build breaks it', async () => {
    const fleet = collectors.map((each) => ({ ...each, alive: each.osName === 'Linux' || each.id > 20 }));
    const waves = [canary, { ...rest, maxFailures: { kind: 'count', count: 40 } as const }];
    const breaks = [{ match: { name: ['collector-4'] }, share: 1, how: 'fails', afterMs: 0 }] as const;
    const upAgain = { share: 1, withinMs: minute };
    const result = await play({ breaks, upAgain }, { waves }, { fleet, scansAt: [startedAt + hour] });
    expect(result).toMatchObject({ joined: 5, broken: 1, harmed: 1, othersDone: 39 });
  });

  it('shares the request rate with other policies, from their start on, and counts its own collectors alone', async () => {
    const others = [anOther({ startsAt: startedAt + minute })];
    const policy = { waves: [rest], concurrency: 40, select: on('Windows*') };
    const breaks = [{ share: 1, how: 'fails', afterMs: 0 }] as const;
    const own = await play({}, policy, { requestsPerSecond: 0.1 });
    const shared = await play({}, policy, { requestsPerSecond: 0.1, others });
    expect(shared).toMatchObject({ state: 'succeeded', planned: 10, othersDone: 10 });
    expect(shared.tookMs).toBeGreaterThan(1.5 * own.tookMs);
    expect(await play({ breaks }, policy, { others })).toMatchObject({ broken: 10, harmed: 10 });
    const toAnother = { requestsPerSecond: 0.1, others: [anOther({ targetBuild: '19.600-1' })] };
    expect((await play({}, policy, toAnother)).requests).toBeGreaterThan(0.9 * shared.requests);
  });

  it('goes on without another policy that finds nobody', async () => {
    const alone = await play({}, { waves: [rest] });
    const others = [anOther({ upgradableIds: new Set() })];
    expect(await play({}, { waves: [rest] }, { others })).toMatchObject({ tookMs: alone.tookMs });
  });

  it('takes longer with fewer requests', async () => {
    const policy = { waves: [rest], concurrency: 40 };
    const slow = await play({}, policy, { requestsPerSecond: 0.1 });
    expect(slow.tookMs).toBeGreaterThan(2 * (await play({}, policy)).tookMs);
  });

  it('waits for an approval until the time of day at which a person gives it', async () => {
    const policy = { waves: [rest], approval: true };
    // It begins at 21:00.
    const result = await play({ approval: { kind: 'at', minute: 8 * 60, timeZone: 'UTC' } }, policy);
    expect(result.state).toBe('succeeded');
    expect(result.waves[0]?.openedAt).toBe(startedAt + 11 * hour);
    expect(await play({ approval: { kind: 'never' } }, policy)).toMatchObject({
      state: 'awaitingApproval',
      othersDone: 0,
    });
  });

  it('opens a wave that needs an approval when it gets one', async () => {
    const waves = [canary, { ...rest, approval: true }];
    const result = await play({ approval: { kind: 'at', minute: 6 * 60, timeZone: 'UTC' } }, { waves });
    expect(result.waves[1]?.openedAt).toBe(startedAt + 9 * hour);
  });

  it('stops at a gate that holds or is silent, and passes one that passes', async () => {
    const gate = aWebhookGate({ name: 'board' });
    const policy = { waves: [{ ...canary, gates: [gate] }, rest] };
    expect(await play({}, policy)).toMatchObject({ state: 'succeeded' });
    for (const word of ['hold', 'silent'] as const) {
      const { state, othersDone } = await play({ gates: { board: word } }, policy);
      expect([word, state, othersDone]).toEqual([word, 'held', 2]);
    }
  });

  it('starts nothing outside of the windows', async () => {
    const days = [1, 2, 3, 4, 5, 6, 7];
    const windows = [{ days, fromMinute: 23 * 60, toMinute: 24 * 60, timeZone: 'UTC' }];
    const { tookMs } = await play({}, { waves: [rest], windows, concurrency: 40 });
    expect(tookMs).toBeGreaterThan(2 * hour);
    expect(tookMs).toBeLessThan(3 * hour);
  });

  it('takes back what was upgraded where a breach asks for a rollback', async () => {
    const policy = { waves: [rest], onBreach: 'rollback', spreadBy: [] } as const;
    const result = await play({ breaks: [{ ...onWindows, how: 'fails' }] }, policy);
    expect(result).toMatchObject({ state: 'rolledBack', reasonKind: 'failures', othersDone: 0 });
    expect(result.rolledBack).toBeGreaterThan(0);
    expect(result.night.lanes[0]?.spans.map(({ kind }) => kind)).toEqual(['upgrade', 'back']);
    const lost = await play({ breaks: [{ ...onWindows, how: 'neverReturns' }] }, policy);
    expect(lost).toMatchObject({ state: 'rolledBack', reasonKind: 'failures' });
    // A collector that is gone waits in vain for its turn to go back.
    expect(lost.tookMs).toBeGreaterThan(12 * hour);
  });

  it('leaves collectors on the build whose former build the service does not offer', async () => {
    const builds = collectors.map(({ id, build }) => (id % 4 === 1 ? '19.100-1' : build));
    const aged = collectors.map((each, index) => ({ ...each, build: builds[index] ?? '' }));
    const whatIf = { breaks: [{ ...onWindows, how: 'fails' }] } as const;
    const policy = { waves: [rest], onBreach: 'rollback', spreadBy: [] } as const;
    const known = await play(whatIf, policy, { fleet: aged });
    const offered = builds.filter((build) => build !== '19.100-1');
    const left = await play(whatIf, policy, { fleet: aged, builds: [...new Set(offered)] });
    expect(known.upgraded).toBe(0);
    expect(left.upgraded).toBeGreaterThan(0);
    expect(left.rolledBack).toBe(known.rolledBack - left.upgraded);
  });

  it('continues with a rollback after an outage that delayed its plan', async () => {
    const policy = { waves: [rest], onBreach: 'rollback', spreadBy: [] } as const;
    const breaks = [{ ...onWindows, how: 'fails' }] as const;
    const { tookMs } = await play({ breaks }, policy);
    const outage = { from: startedAt + 5 * minute, to: startedAt + 5 * hour, requestsPerSecond: 0 };
    const late = await play({ breaks, disturbances: [outage] }, policy);
    expect(late.state).toBe('rolledBack');
    expect(late.tookMs).toBeGreaterThan(tookMs + 3 * hour);
  });

  it('ends when it is held, and watches running upgrades to their end', async () => {
    const strict = { ...rest, maxFailures: { kind: 'count', count: 0 } } as const;
    const policy = { waves: [strict], concurrency: 40 };
    const breaks = [{ ...onWindows, share: 0.2, how: 'fails' }] as const;
    const durations = { medianMs: 5 * minute, p95Ms: 25 * minute };
    const { state, tookMs, othersDone, broken } = await play({ breaks, durations }, policy);
    expect([state, othersDone]).toEqual(['held', 40 - broken]);
    expect(tookMs).toBeLessThan(20 * minute);
  });
});
