import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../src/rollout/policy.ts';
import { isEnd } from '../../src/rollout/upgrade.ts';
import { aFleet, aPolicy, aWaveRule, targetBuild } from '../support/builders.ts';
import { lossless } from '../support/lossless.ts';
import { seededChance } from '../support/seeded-chance.ts';
import { type Fate, goodFate, makeNight } from '../support/simulated-night.ts';

const failures = ['download failed', 'permission denied', 'not enough space', 'timed out', '', 'gremlins'];
const codes = ['collector.not.alive', 'collector.in.upgrading', 'collector.type.invalid', 'who.knows'];

const fates: fc.Arbitrary<Fate> = fc.record({
  durationMs: fc.integer({ min: 20_000, max: 28 * 60_000 }),
  ends: fc.oneof(
    { weight: 12, arbitrary: fc.constant('succeeded' as const) },
    { weight: 4, arbitrary: fc.constant('failed' as const) },
    { weight: 1, arbitrary: fc.constantFrom('stuck' as const, 'lost' as const, 'otherBuild' as const) },
  ),
  message: fc.constantFrom(...failures),
  answerLost: fc.oneof(
    { weight: 6, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  refusedWith: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...codes) },
  ),
  unavailable: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

const policies: fc.Arbitrary<Policy> = fc
  .record({
    concurrency: fc.integer({ min: 1, max: 8 }),
    canary: fc.integer({ min: 1, max: 4 }),
    soakMs: fc.constantFrom(0, 60_000, 1_800_000),
    maxFailures: fc.integer({ min: 0, max: 30 }),
  })
  .map(({ concurrency, canary, soakMs, maxFailures }) =>
    aPolicy({
      concurrency,
      defer: { upToMs: 3_600_000 },
      waves: [
        aWaveRule({
          name: 'canary',
          size: { kind: 'count', count: canary },
          soakMs,
          maxFailures: { kind: 'count', count: maxFailures },
        }),
        aWaveRule({
          name: 'early',
          size: { kind: 'percent', percent: 30 },
          soakMs,
          maxFailures: { kind: 'count', count: maxFailures },
        }),
        aWaveRule({ maxFailures: { kind: 'count', count: maxFailures } }),
      ],
    }),
  );

const nights = fc.record({
  policy: policies,
  size: fc.integer({ min: 1, max: 24 }),
  fates: fc.array(fates, { minLength: 1, maxLength: 40 }),
  seed: fc.integer(),
});

describe('a rollout under seeded faults, judged by the service', () => {
  it('keeps P1, P2, P3, P9 and P10, whatever the service does and with jobs being lost', async () => {
    await fc.assert(
      fc.asyncProperty(nights, async ({ policy, size, fates: given, seed }) => {
        const fateOf = (id: number, attempt: number) => given[(id * 7 + attempt) % given.length] ?? goodFate;
        const night = await makeNight({
          policy,
          fleet: aFleet(size),
          fateOf,
          chance: seededChance(seed),
          loseJobs: 0.05,
        });
        await night.run();

        expect(night.account.doubled, 'P1: a second task, or a task for a build it runs').toEqual([]);
        expect(night.account.maxRunning, 'P2: slots').toBeLessThanOrEqual(policy.concurrency);
        expect(night.account.outOfOrder, 'P3: a create before the gate before it passed').toEqual([]);

        const rollout = lossless(await night.store.loadRollout(night.rolloutId));
        const upgrades = await night.store.listUpgrades(night.rolloutId, { offset: 0, limit: 1_000 });
        expect(upgrades.length, 'P9: every planned collector is there').toBe(size);
        const view = lossless(
          await night.store.loadView(night.rolloutId, {
            now: night.clock.now(),
            overdueBefore: 0,
            pageSize: 1,
          }),
        );
        const counted = view.waves.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b, 0);
        expect(counted, 'P9: the counters add up').toBe(size);
        expect(['succeeded', 'finishedWithFailures', 'held']).toContain(rollout.state);
        for (const upgrade of upgrades) {
          if (rollout.state !== 'held') expect(isEnd(upgrade.state), `P9: ${upgrade.state}`).toBe(true);
          if (isEnd(upgrade.state) && 'reason' in upgrade) expect(upgrade.reason).not.toBe('');
          if (upgrade.state === 'succeeded') {
            const shown = night.collector(upgrade.collectorId);
            expect(shown, 'P10: a success is on the build and up').toEqual({
              build: targetBuild,
              isUp: true,
            });
          }
          expect(upgrade.attempts).toBeLessThanOrEqual(policy.retry.maxAttempts + 1);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('ends in the same way with every collector upgraded when nothing goes wrong', async () => {
    const policy = aPolicy({ concurrency: 7 });
    const night = await makeNight({ policy, fleet: aFleet(100), fateOf: () => goodFate });
    await night.run();
    const rollout = lossless(await night.store.loadRollout(night.rolloutId));
    expect(rollout.state).toBe('succeeded');
    expect(night.account.creates.length).toBe(100);
    expect(night.account.maxRunning).toBe(7);
  });
});
