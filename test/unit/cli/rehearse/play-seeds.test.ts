import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { makeProgress, playSeeds } from '../../../../src/cli/rehearse/play-seeds.ts';
import { makeSeedPool } from '../../../../src/cli/rehearse/seed-pool.ts';
import { variantsOf } from '../../../../src/rehearsal/result/variants.ts';
import { fleetAsOf } from '../../../../src/rehearsal/world/virtual-service.ts';
import { aWhatIf } from '../../../support/builders/rehearsal-builders.ts';
import { aFleet, aPolicy, startedAt, targetBuild } from '../../../support/builders.ts';

const policy = aPolicy({ concurrency: 5 });
const snapshot = fleetAsOf(aFleet(8).collectors, startedAt);
const breaks = [{ match: {}, share: 1, afterMs: 0, how: 'fails' }] as const;

interface Played {
  readonly seeds: number;
  readonly variants: boolean;
  readonly isLive?: boolean;
}

/** What is written when each seed takes so long. */
async function linesOf(seedMs: number, { seeds, variants, isLive = true }: Played) {
  const scene = {
    ...{ targetBuild, snapshot, beganAt: startedAt, requestsPerSecond: 4, passPauseMs: 1_000 },
    whatIf: aWhatIf({ breaks }),
  };
  const err = new PassThrough();
  let now = 0;
  const show = makeProgress({ isLive, err }, () => now);
  const pool = makeSeedPool({ scene, upgrades: 0 });
  await playSeeds(pool, { scene, policy, seeds, variants }, (line) => {
    now += seedMs;
    show(line);
  });
  return String(err.read() ?? '')
    .split('\n')
    .slice(0, -1);
}

describe('a rehearsal that takes long', () => {
  it('shows every five seconds how many seeds it has played', async () => {
    expect(await linesOf(2_000, { seeds: 7, variants: false })).toEqual([
      'still rehearsing: 3 of at most 7 seeds',
      'still rehearsing: 6 of at most 7 seeds',
    ]);
    expect(await linesOf(500, { seeds: 7, variants: false })).toEqual([]);
  });

  it('writes nothing of that for a script', async () => {
    expect(await linesOf(5_000, { seeds: 2, variants: false, isLive: false })).toEqual([]);
  });

  it('shows which change of the policy it plays', async () => {
    const changes = variantsOf(policy, snapshot.collectors);
    expect(changes.length).toBeGreaterThan(1);
    expect(await linesOf(5_000, { seeds: 1, variants: true })).toEqual([
      'still rehearsing: 1 of at most 1 seeds',
      ...changes.map(
        ({ name }, index) =>
          `still rehearsing: ${name}, ${index + 1} of ${changes.length} changes of the policy`,
      ),
    ]);
  });
});
