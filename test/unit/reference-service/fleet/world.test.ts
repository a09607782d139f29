import { describe, expect, it } from 'vitest';
import { taskStatusAt } from '../../../../src/reference-service/fleet/task-script.ts';
import { collectorView } from '../../../../src/reference-service/fleet/views.ts';
import { World } from '../../../../src/reference-service/fleet/world.ts';
import { parseScenario, type ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { aStatusClock } from '../../../support/reference-client.ts';

const minuteMs = 60_000;
const nobody = { dead: 0, mac: 0, container: 0, ephemeral: 0, hosted: 0 };
const calmShares = { ...nobody, unparsableVersion: 0, aboveLatest: 0 };
const noFailures = { failed: 0, timeout: 0, lost: 0, lostMac: 0 };

function aWorld(scenario: ScenarioInput = {}) {
  const clock = aStatusClock();
  const fleet = { size: 50, shares: calmShares, ...scenario.fleet };
  const world = new World({
    clock,
    scenario: parseScenario({ naturalFailures: noFailures, ...scenario, fleet }),
  });
  const [first] = world.upgradableTo('19.536-4');
  if (first === undefined) throw new Error('the fleet has nothing to upgrade');
  const { id } = first.facts;
  const view = () => collectorView(first, clock.now());
  const createFor = (collectorId: number, toVersion?: string) =>
    world.createTask({ collectorId, toVersion, by: 'api' });
  const create = () => createFor(id);
  /** A task for each that can be upgraded, with an empty name for the latest build. */
  const createAll = () => world.upgradableTo('19.536-4').map(({ facts }) => createFor(facts.id, ''));
  const runTo = (instant: number) => clock.advance(instant - clock.now());
  return { clock, world, id, before: first.life.version, view, createFor, create, createAll, runTo };
}

describe('an account (field-facts.md, Upgrades)', () => {
  it('has at most 10,000 collectors', () => {
    const events = [{ after: '1h', event: 'appears', newcomers: 5 }] as const;
    const { clock, world, id } = aWorld({ fleet: { size: 10_000 }, events: [...events] });
    const hosted = (name: string) => world.createCollector({ collectorType: 'Hosted', name });
    expect(() => hosted('one too many')).toThrow(/at most 10000/);
    world.remove(id);
    hosted('one for one');
    expect(() => hosted('one too many')).toThrow(/at most 10000/);
    clock.advance(60 * minuteMs);
    expect(world.collectors()).toHaveLength(10_000);
  });
});

describe('a task that succeeds (collector-api.md §3)', () => {
  it('takes longer where the scenario has slow collectors', () => {
    const durations = { median: '5m', p95: '6m', incrementFromBuildsBehind: null };
    const tookMs = (slow: NonNullable<NonNullable<ScenarioInput['durations']>['slow']>) => {
      const { script, requestedAt } = aWorld({ durations: { ...durations, slow } }).create();
      return script.endsAt - requestedAt;
    };
    const usualMs = tookMs([]);
    expect(tookMs([{ match: { osName: '*' }, times: 3 }]) / usualMs).toBeCloseTo(3, 2);
    expect(tookMs([{ match: { osName: 'nothing' }, times: 3 }])).toBe(usualMs);
  });

  it('falls silent around its restart and then sends a heartbeat each 15 s again', () => {
    const { clock, view, create, runTo } = aWorld();
    const { script } = create();
    const [down, up] = script.life.slice(-2);
    if (down === undefined || up === undefined) throw new Error('no restart in the script');
    runTo(up.at - 1);
    expect(view().lastSeenAlive).toBeLessThanOrEqual(down.at);
    runTo(up.at);
    expect(view().lastSeenAlive).toBe(up.at);
    clock.advance(44_999);
    expect(view().lastSeenAlive).toBe(up.at + 30_000);
    expect(view().alive).toBe(true);
  });
});

describe('durations (field-facts.md, Upgrades)', () => {
  it('have a median of 4 to 6 minutes, 95 % within about 20, and are cut at 30', () => {
    const { createAll } = aWorld({ fleet: { size: 3_000, shares: calmShares } });
    const minutes = createAll()
      .map(({ script, requestedAt }) => (script.endsAt - requestedAt) / minuteMs)
      .sort((a, b) => a - b);
    expect(minutes[Math.floor(minutes.length * 0.5)]).toBeGreaterThan(4);
    expect(minutes[Math.floor(minutes.length * 0.5)]).toBeLessThan(6);
    expect(minutes[Math.floor(minutes.length * 0.95)]).toBeLessThan(21);
    expect(minutes.at(-1)).toBeLessThanOrEqual(30);
  });

  it('are the same for a collector, build and attempt, whatever was created before', () => {
    const scripts = (order: 'up' | 'down') => {
      const { world, clock, createFor } = aWorld();
      const ids = world.upgradableTo('19.536-4').map(({ facts }) => facts.id);
      if (order === 'down') ids.reverse();
      return ids
        .map((each) => createFor(each))
        .map(({ collectorId, script }) => [collectorId, script.endsAt - clock.now(), script.life.length])
        .sort(([a = 0], [b = 0]) => a - b);
    };
    expect(scripts('up')).toEqual(scripts('down'));
  });

  it('longer than the task time-out end in a failure, though the collector is upgraded (§3)', () => {
    const { clock, view, create } = aWorld({ durations: { median: '40m', p95: '41m', max: '60m' } });
    const { script, requestedAt } = create();
    expect(script).toMatchObject({ endsAt: requestedAt + 30 * minuteMs, endStatus: 3 });
    clock.advance(65 * minuteMs);
    expect(view().collectorVersion).toBe('19.536-4');
  });
});

describe('failure rules of a scenario', () => {
  it('failed: status 3 with the message, only on the listed attempts', () => {
    const { view, before, create, runTo } = aWorld({
      failures: [{ attempts: [1], outcome: 'failed', message: 'download failed' }],
    });
    const first = create();
    expect(first.script).toMatchObject({ endStatus: 3, message: 'download failed' });
    runTo(first.script.endsAt);
    expect(view()).toMatchObject({ collectorVersion: before, alive: true });
    expect(create().script.endStatus).toBe(2);
  });

  it('lost: status 2, alive for up to 30 minutes more, and never back', () => {
    const { clock, view, create, runTo } = aWorld({ failures: [{ outcome: 'lost' }] });
    const { script } = create();
    expect(script.endStatus).toBe(2);
    runTo(script.endsAt + 5 * minuteMs);
    expect(view().alive).toBe(true);
    expect(view().lastSeenAlive).toBeLessThan(script.endsAt);
    clock.advance(31 * minuteMs);
    expect(view().alive).toBe(false);
  });

  it.each([
    ['times out and the collector stays away', { outcome: 'lostInUpgrade' }, 3, { alive: false }],
    [
      'succeeds, shows the build, and stays away',
      { outcome: 'lostOnBuild' },
      2,
      { alive: false, collectorVersion: '19.536-4' },
    ],
    [
      'times out, and the collector is upgraded',
      { outcome: 'lateSuccess' },
      3,
      { collectorVersion: '19.536-4', alive: true },
    ],
    [
      'succeeds, and the collector runs another build',
      { outcome: 'otherBuild', build: '19.525-63' },
      2,
      { collectorVersion: '19.525-63' },
    ],
  ] as const)('a task %s', (_what, failure, endStatus, shown) => {
    const { clock, view, create } = aWorld({ failures: [failure] });
    expect(create().script.endStatus).toBe(endStatus);
    clock.advance(120 * minuteMs);
    expect(view()).toMatchObject(shown);
  });

  it('createCode: the create is refused with the code', () => {
    const { create } = aWorld({
      failures: [{ attempts: [1], outcome: 'createCode', code: 'collector.not.alive' }],
    });
    expect(create).toThrow(expect.objectContaining({ status: 400, code: 'collector.not.alive' }));
    expect(create().script.endStatus).toBe(2);
  });

  it.each([
    ['share', { share: 0.2 }, (failed: number, all: number) => Math.abs(failed / all - 0.2) < 0.1],
    ['count', { count: 3 }, (failed: number) => failed === 3],
    ['osName', { osName: 'Windows*' }, (failed: number, all: number) => failed > 0 && failed < all],
    ['version', { version: '19.999-*' }, (failed: number) => failed === 0],
  ])('strike the collectors of their match: %s', (_what, match, holds) => {
    const { createAll } = aWorld({
      fleet: { size: 300, shares: calmShares },
      failures: [{ match, outcome: 'failed', message: 'x' }],
    });
    const tasks = createAll();
    expect(holds(tasks.filter(({ script }) => script.message === 'x').length, tasks.length)).toBe(true);
  });

  it('are judged in order, the first that matches decides', () => {
    const { create } = aWorld({ failures: [{ outcome: 'succeeded' }, { outcome: 'failed', message: 'x' }] });
    expect(create().script.endStatus).toBe(2);
  });
});

describe('faults and events of a scenario', () => {
  it('a collector killed in its upgrade lets the task time out', () => {
    const { clock, world, id, view, create, runTo } = aWorld();
    const task = create();
    runTo(task.script.progressingAt);
    world.kill(id);
    expect(task.script).toMatchObject({ endsAt: task.requestedAt + 30 * minuteMs, endStatus: 3 });
    clock.advance(31 * minuteMs);
    expect(view().alive).toBe(false);
    world.revive(id);
    expect(view()).toMatchObject({ alive: true, lastSeenAlive: clock.now() });
  });

  it('a task for a collector that just died is accepted and times out, never progressing', () => {
    const { world, id, create, clock } = aWorld();
    world.kill(id);
    const { script } = create();
    expect(script.endStatus).toBe(3);
    clock.advance(29 * minuteMs);
    expect(taskStatusAt(script, clock.now())).toBe(1);
  });

  it('a person clicks upgrade: ours is refused as collector.in.upgrading', () => {
    const { world, id, create } = aWorld();
    world.clickUpgrade(id);
    expect(create).toThrow(expect.objectContaining({ code: 'collector.in.upgrading' }));
  });

  it('a person installs a build on the host, or renames a collector: both show at once', () => {
    const { clock, world, id, view } = aWorld();
    clock.advance(minuteMs + 1);
    world.install(id, '19.536-4');
    world.rename(id, 'by hand');
    expect(view()).toMatchObject({
      collectorVersion: '19.536-4',
      name: 'by hand',
      lastSeenAlive: clock.now(),
    });
    expect(world.isInUpgrade(id)).toBe(false);
    expect(world.collectorNamed('by hand')?.facts.id).toBe(id);
  });

  it('events of the scenario happen at their instants', () => {
    const { clock, world, id, view } = aWorld({
      events: [
        { after: '10m', event: 'dies', match: { share: 1 } },
        { after: '1h', event: 'appears', newcomers: 2 },
        { after: '2h', event: 'returns' },
        { after: '3h', event: 'vanishes', match: { ids: [100_000_001] } },
      ],
    });
    clock.advance(45 * minuteMs);
    world.now();
    expect(view().alive).toBe(false);
    clock.advance(15 * minuteMs);
    expect(world.collectors()).toHaveLength(52);
    clock.advance(60 * minuteMs);
    expect(world.isInUpgrade(id)).toBe(false);
    expect(view().alive).toBe(true);
    clock.advance(60 * minuteMs);
    expect(world.collectors()).toHaveLength(51);
  });
});
