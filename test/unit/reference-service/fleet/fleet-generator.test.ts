import { describe, expect, it } from 'vitest';
import { parseBuildVersion } from '../../../../src/base/build-version.ts';
import { Collector } from '../../../../src/contract/collector-management/collectors.ts';
import { isAlive } from '../../../../src/reference-service/fleet/simulated-collector.ts';
import { collectorView } from '../../../../src/reference-service/fleet/views.ts';
import { World } from '../../../../src/reference-service/fleet/world.ts';
import { parseScenario, type ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { aStatusClock } from '../../../support/reference-client.ts';

function aFleet(fleet: ScenarioInput['fleet']) {
  const clock = aStatusClock();
  const world = new World({ scenario: parseScenario({ fleet }), clock });
  return { clock, collectors: world.collectors(), latest: world.builds.latest(clock.now()) ?? '' };
}

describe('the generated fleet (field-facts.md, A realistic fleet)', () => {
  const { clock, collectors } = aFleet({ size: 10_000, seed: 7 });
  const share = (holds: (collector: (typeof collectors)[number]) => boolean) =>
    collectors.filter(holds).length / collectors.length;

  it('has the asked size, with unique ids and names of at most 128 characters', () => {
    expect(collectors).toHaveLength(10_000);
    expect(new Set(collectors.map(({ facts }) => facts.id)).size).toBe(10_000);
    expect(new Set(collectors.map(({ facts }) => facts.name)).size).toBe(10_000);
    expect(Math.max(...collectors.map(({ facts }) => facts.name.length))).toBe(128);
  });

  it.each<readonly [string, number, (c: (typeof collectors)[number]) => boolean]>([
    ['Linux', 0.62, ({ facts }) => facts.osName === 'Linux'],
    ['Windows', 0.33, ({ facts }) => facts.osName?.startsWith('Windows') === true],
    ['macOS', 0.02, ({ facts }) => facts.osName?.startsWith('Mac') === true],
    ['hosted', 0.02, ({ facts }) => facts.collectorType === 'Hosted'],
    ['ephemeral', 0.15, ({ facts }) => facts.ephemeral],
    ['dead', 0.08, (c) => !isAlive(c, clock.now())],
    ['Json', 0.3, ({ facts }) => facts.sourceSyncMode === 'Json'],
    ['with a category', 0.5, ({ facts }) => facts.category !== undefined],
    ['with fields', 0.3, ({ facts }) => facts.fields !== undefined],
    ['at latest or one behind', 0.25, ({ life }) => ['19.536-4', '19.533-5'].includes(life.version)],
    ['above latest', 0.01, ({ life }) => life.version === '19.540-1'],
  ])('has about the proposed share: %s %d', (_what, expected, holds) => {
    expect(Math.abs(share(holds) - expected)).toBeLessThan(0.025);
  });

  it('has a few builds that cannot be read', () => {
    const unreadable = collectors.filter(
      ({ facts, life }) =>
        facts.collectorType === 'Installable' && parseBuildVersion(life.version) === undefined,
    );
    expect(unreadable.length).toBeGreaterThan(10);
    expect(unreadable.length).toBeLessThan(120);
  });

  it('has names that trip careless clients', () => {
    const names = collectors.map(({ facts }) => facts.name);
    for (const odd of ['Billing-Worker', 'billing-worker', 'Staging Area', 'Cloud/Dev/Containers']) {
      expect(names).toContain(odd);
    }
    expect(names.some((name) => /[^ -~]/.test(name))).toBe(true);
    expect(names.some((name) => /^collector_container-[0-9a-f]{12}$/.test(name))).toBe(true);
    expect(names.some((name) => /-\d{13}$/.test(name))).toBe(true);
  });

  it('shows collectors that lack fields, and some with an unknown one', () => {
    const views = collectors.map((collector) => collectorView(collector, clock.now()));
    for (const view of views) expect(Collector.safeParse(view).success).toBe(true);
    const installed = views.filter((view) => view.collectorType === 'Installable');
    for (const field of ['osTime', 'hostName', 'category', 'timeZone'] as const) {
      expect(installed.some((view) => view[field] === undefined)).toBe(true);
      expect(installed.some((view) => view[field] !== undefined)).toBe(true);
    }
    const subtypes = new Set(installed.map((view) => view['installedCollectorSubtype']));
    expect(subtypes).toEqual(new Set(['Installed', undefined]));
  });

  it('is the same for the same seed, and another for another', () => {
    const facts = (seed: number) => JSON.stringify(aFleet({ size: 100, seed }).collectors);
    expect(facts(1)).toBe(facts(1));
    expect(facts(1)).not.toBe(facts(2));
  });

  it('leaves out what a scenario sets to nothing', () => {
    const calm = aFleet({ size: 500, shares: { dead: 0, mac: 0, container: 0, hosted: 0 } });
    expect(calm.collectors.every((collector) => isAlive(collector, calm.clock.now()))).toBe(true);
    expect(calm.collectors.some(({ facts }) => facts.osName?.startsWith('Mac'))).toBe(false);
    expect(calm.collectors.some(({ facts }) => facts.name.startsWith('collector_container'))).toBe(false);
    expect(calm.collectors.some(({ facts }) => facts.collectorType === 'Hosted')).toBe(false);
  });
});
