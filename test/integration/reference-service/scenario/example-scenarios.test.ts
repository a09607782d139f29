import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isAlive } from '../../../../src/reference-service/fleet/simulated-collector.ts';
import { World } from '../../../../src/reference-service/fleet/world.ts';
import { parseScenario } from '../../../../src/reference-service/scenario/scenario.ts';
import { aStatusClock } from '../../../support/reference-client.ts';

const folder = new URL('../../../../config/scenarios/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

function load(name: string) {
  const scenario = parseScenario(parse(readFileSync(new URL(name, folder), 'utf8')));
  const clock = aStatusClock();
  const world = new World({ scenario, clock });
  const upgradable = world.upgradableTo(world.targetVersion(undefined));
  return { world, clock, upgradable };
}

function firstTries(name: string) {
  const { world, upgradable } = load(name);
  return upgradable.map(({ facts }) => ({
    facts,
    task: world.createTask({ collectorId: facts.id, toVersion: undefined, by: 'api' }),
  }));
}

describe('example scenarios', () => {
  it('include the one in the README, which uses every key', () => {
    const readme = readFileSync(
      new URL('../../../../src/reference-service/README.md', import.meta.url),
      'utf8',
    );
    const example = /```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const scenario = parse(example) as object;
    expect(() => parseScenario(scenario)).not.toThrow();
    expect(Object.keys(scenario).sort()).toEqual(Object.keys(parseScenario({})).sort());
  });

  it.each(files)('%s is a valid scenario with something to upgrade', (name) => {
    expect(load(name).upgradable.length).toBeGreaterThan(50);
  });

  it('demo.yaml: no collector is dead, five fail once, exactly one fails for good, nothing is lost', () => {
    const { world, clock, upgradable } = load('demo.yaml');
    expect(world.collectors()).toHaveLength(300);
    expect(world.collectors().every((collector) => isAlive(collector, clock.now()))).toBe(true);
    const failuresOf = () =>
      upgradable.flatMap(({ facts }) => {
        if (world.isInUpgrade(facts.id)) throw new Error('the try before has not ended');
        const { script } = world.createTask({ collectorId: facts.id, toVersion: undefined, by: 'api' });
        return script.endStatus === 3 ? [script.message] : [];
      });
    expect(failuresOf().sort()).toEqual([
      ...Array.from({ length: 5 }, () => expect.stringContaining('download failed')),
      expect.stringContaining('permission denied'),
    ]);
    clock.advance(45 * 60_000);
    expect(world.collectors().every((collector) => isAlive(collector, clock.now()))).toBe(true);
    expect(failuresOf()).toEqual([expect.stringContaining('permission denied')]);
  });

  it('calm.yaml: every attempt succeeds', () => {
    expect(firstTries('calm.yaml').every(({ task }) => task.script.endStatus === 2)).toBe(true);
  });

  it('bad-build.yaml: Windows breaks, the others succeed', () => {
    const tries = firstTries('bad-build.yaml');
    const brokenShare = (isWindows: boolean) => {
      const stratum = tries.filter(({ facts }) => facts.osName?.startsWith('Windows') === isWindows);
      const broken = stratum.filter(({ task }) => task.script.message.startsWith('unable to remove files'));
      return broken.length / stratum.length;
    };
    expect(brokenShare(true)).toBeGreaterThan(0.4);
    expect(brokenShare(false)).toBeLessThan(0.03);
  });
});
