import { describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { scenarioOf } from '../../../bench/contest/contest.ts';
import { quantile } from '../../../bench/quantile.ts';
import { playVirtually, type VirtualPlay } from '../../../support/virtual/virtual-play.ts';

const durations = { median: '5m', p95: '17m', max: '29m' };
const target = '19.536-4';
const oldBuilds = ['19.441-2', '19.456-3', '19.484-2', '19.506-1', '19.525-63', '19.533-5'];

type FleetPlay = Required<Pick<VirtualPlay, 'buildOf' | 'scenario'>> & Pick<VirtualPlay, 'wire'>;

/** A fleet on the last of these builds, in equal parts. @param offered how many of the builds are on offer, besides the target */
function fleetOn(runs: number, offered: number, rareShare = 1): FleetPlay {
  const builds = oldBuilds.slice(-offered);
  const run = builds.slice(-runs);
  const buildOf = (index: number) =>
    run[index % Math.round(runs * rareShare)] ?? run[index % (runs - 1)] ?? target;
  return { buildOf, scenario: { builds: [...builds, target] } };
}

describe('ends that lists show', () => {
  it.each<[string, FleetPlay]>([
    ['one build, and no other on offer', fleetOn(1, 1)],
    ['one build of six', fleetOn(1, 6)],
    ['six builds, and few collectors on one of them', fleetOn(6, 6, 3)],
    [
      'four builds, where the service lists no downgrades',
      { ...fleetOn(4, 4), wire: { listsNoDowngrades: true } },
    ],
  ])('make 95% of failures known within a tenth of the median duration: %s', async (_fleet, given) => {
    const { scenario } = given;
    const usual = scenarioOf({ collectors: 200, durations });
    const failures: ScenarioInput['failures'] = [
      { match: { share: 0.15 }, attempts: [1], outcome: 'failed', message: 'unknown' },
      { outcome: 'succeeded' },
    ];
    const play = { ...given, scenario: { ...usual, ...scenario, failures }, slots: 50 };
    const { state, upgraded, failureLags, requestsPerUpgrade } = await playVirtually(play);
    expect({ state, upgraded }).toEqual({ state: 'succeeded', upgraded: 200 });
    expect(failureLags.length).toBeGreaterThan(20);
    expect(quantile(failureLags, 0.95)).toBeLessThanOrEqual(0.1);
    expect(requestsPerUpgrade).toBeLessThan(4.6);
  });

  it('are known soon with few slots, too, as the request rate is idle then', async () => {
    const scenario = scenarioOf({ collectors: 200, durations });
    const { overGreedy } = await playVirtually({ scenario, slots: 10 });
    expect(overGreedy).toBeLessThanOrEqual(1.02);
  });

  it('cost 2.5 requests an upgrade at most with 100 slots, and no slot idles for long', async () => {
    const scenario = scenarioOf({ collectors: 600, durations });
    const { requestsPerUpgrade, overGreedy } = await playVirtually({ scenario, slots: 100 });
    expect(requestsPerUpgrade).toBeLessThanOrEqual(2.5);
    expect(overGreedy).toBeLessThanOrEqual(1.02);
  });
});
