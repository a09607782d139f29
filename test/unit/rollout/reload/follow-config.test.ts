import { describe, expect, it } from 'vitest';
import { assessCalendar } from '../../../../src/rollout/calendar/calendar.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { differenceText } from '../../../../src/rollout/messages/config-texts.ts';
import { collectorZone, type Policy } from '../../../../src/rollout/model/policy.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import {
  followConfig,
  withCurrentCaps,
  withCurrentLimits,
} from '../../../../src/rollout/reload/follow-config.ts';
import { comparePolicies } from '../../../../src/rollout/reload/policy-difference.ts';
import { aPrometheusGate } from '../../../support/builders/gate-builders.ts';
import {
  aPolicy,
  aRollout,
  aTarget,
  aWaveRule,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';

const count = (amount: number) => ({ kind: 'count', count: amount }) as const;
const window = { days: [1, 2, 3, 4], fromMinute: 22 * 60, toMinute: 5 * 60, timeZone: 'UTC' };
const freeze = { from: '2026-03-02T00:00', to: '2026-03-04T00:00', reason: 'audit', timeZone: 'UTC' };
const version = { generation: 2, isReinstated: false };

function follow(rollout: Rollout, config: Policy, changes: Partial<typeof version> = {}) {
  return followConfig(rollout, { config, version: { ...version, ...changes }, at: t });
}

describe('the present config of an active rollout', () => {
  const frozen = aPolicy({
    waves: [
      aWaveRule({ name: 'canary', maxFailures: count(3) }),
      aWaveRule({ name: 'rest', size: count(9) }),
    ],
    maxInFlightPer: [{ key: 'fields.cluster', cap: 4 }],
  });
  const brakes = {
    windows: [window],
    freezes: [freeze],
    concurrency: 2,
    isolate: 'attributes',
    lostWeight: 5,
    defer: { upToMs: 60_000 },
  } as const;
  const config = aPolicy({
    ...brakes,
    select: { include: { name: ['web-*'] }, exclude: [] },
    target: aTarget({ version: '19.600-1' }),
    spreadBy: ['osName'],
    waves: [
      aWaveRule({ name: 'canary', size: count(5), maxFailures: count(0), soakMs: 1 }),
      aWaveRule({ name: 'more' }),
    ],
    maxInFlightPer: [
      { key: 'fields.cluster', cap: 1 },
      { key: 'category', cap: 1 },
    ],
  });

  it('changes windows, freezes, slots, caps, failure limits and defer, but not plan and target (P5, P6)', () => {
    const { policy, followed, waiting } = withCurrentLimits(aRollout({ policy: frozen }), config);
    expect(policy).toEqual({
      ...frozen,
      ...brakes,
      waves: [{ ...frozen.waves[0], maxFailures: count(0) }, frozen.waves[1]],
      maxInFlightPer: [{ key: 'fields.cluster', cap: 1 }],
    });
    expect(differenceText(followed)).toBe(
      'concurrency 10 → 2, isolate strata → attributes, lostWeight 3 → 5, windows none → Mon Tue Wed Thu 22:00–05:00 UTC, ' +
        'freezes none → 2026-03-02T00:00–2026-03-04T00:00 UTC (audit), maxInFlightPer.fields.cluster 4 → 1, ' +
        'waves.canary.maxFailures 3 → 0, defer.upTo 12h → 1m',
    );
    expect(waiting.map(({ key }) => key)).toEqual(
      expect.arrayContaining([
        ...['select.include', 'target.version', 'spreadBy', 'waves', 'maxInFlightPer.category'],
        ...['waves.canary.size', 'waves.canary.soak', 'waves.rest.size', 'waves.more.size'],
      ]),
    );
    // What it follows is followed wholly: the next beat finds nothing to do.
    expect(follow(aRollout({ policy }), config)).toBeUndefined();
  });

  it('changes the pace, and the pace and calendar of a wave, and removes them', () => {
    const pace = { perHour: 20, from: 20, factor: 2, after: 50 };
    const own = { pace, windows: [window], notBefore: '2026-03-02T00:00' };
    const paced = { ...frozen, pace, waves: frozen.waves.map((wave) => ({ ...wave, ...own })) };
    const begun = aRollout({ policy: frozen });
    const { policy, followed, waiting } = withCurrentLimits(begun, paced);
    expect(policy).toEqual(paced);
    expect(waiting).toEqual([]);
    expect(followed.map(({ key, to, takesEffect }) => `${key} ${to} ${takesEffect}`)).toEqual([
      'pace 20 an hour now',
      ...['canary', 'rest'].flatMap((wave) => [
        `waves.${wave}.pace 20 an hour now`,
        `waves.${wave}.windows Mon Tue Wed Thu 22:00–05:00 UTC now`,
        `waves.${wave}.notBefore 2026-03-02T00:00 now`,
      ]),
    ]);
    expect(withCurrentLimits({ ...begun, policy: paced }, frozen).policy).toEqual(frozen);
    const other = { ...paced, pace: { ...pace, factor: 4 } };
    expect(withCurrentLimits({ ...begun, policy: paced }, other).followed).toHaveLength(1);
  });

  it('is compared without the URL of a gate, which may be a secret (P12)', () => {
    const gated = (url: string) =>
      aPolicy({ waves: [aWaveRule({ name: 'all', gates: [aPrometheusGate({ name: 'ok', url })] })] });
    const differences = comparePolicies(gated('https://p/?token=one'), gated('https://p/?token=two'));
    expect(differences).toEqual([
      { key: 'waves.all.gates', from: 'ok (prometheus)', to: 'ok (prometheus)', takesEffect: 'nextRollout' },
    ]);
  });

  it('is not followed when a newer one is followed already, unless the older one was taken up since (P7)', () => {
    const frozenNow = aRollout({
      policy: aPolicy({ freezes: [freeze] }),
      config: { generation: 3, changes: 1 },
    });
    expect(follow(frozenNow, aPolicy())).toBeUndefined();
    expect(follow(frozenNow, aPolicy(), { generation: 3 })?.policy.freezes).toEqual([]);
    expect(follow(frozenNow, aPolicy(), { isReinstated: true })?.policy.freezes).toEqual([]);
  });

  it('is not followed by an unreadable rollout', () => {
    // Upgrades of it still run, and it may yet be taken back: by the brakes that it has then.
    const slower = aPolicy({ concurrency: 1 });
    for (const state of ['aborted', 'held'] as const)
      expect(follow(aRollout({ state }), slower)).toBeDefined();
    expect(
      follow(aRollout({ unreadable: { kind: 'corrupt', key: 'k', text: '{' } }), slower),
    ).toBeUndefined();
  });

  const followed = (rollout: Rollout, policy: Policy): Rollout => {
    const fact = follow(rollout, policy);
    return fact === undefined ? rollout : evolveRollout(rollout, fact);
  };

  it('counts its changes, because a turn that was given before a change is no longer valid', () => {
    const once = followed(aRollout(), aPolicy({ concurrency: 1 }));
    expect(once).toMatchObject({ config: { generation: 2, changes: 1 }, rev: 2, policy: { concurrency: 1 } });
    expect(followed(once, aPolicy({ concurrency: 5 })).config).toEqual({ generation: 2, changes: 2 });
  });

  describe('with rules by the zones of collectors, which the plan did not ask for', () => {
    const unzoned = aRollout({ policy: aPolicy({ windows: [window] }) });

    it('freezes the rollout while the freeze is in force anywhere on Earth (P7)', () => {
      const byZone = { ...freeze, timeZone: collectorZone };
      const { policy, waiting } = withCurrentLimits(unzoned, aPolicy({ windows: [], freezes: [byZone] }));
      const isOpenAt = (text: string) => assessCalendar(policy, '', Date.parse(text)).isOpen;
      expect(isOpenAt('2026-03-01T09:59Z')).toBe(true);
      // It is 2 March in Kiritimati, and still 3 March on Baker Island.
      expect(isOpenAt('2026-03-01T10:00Z')).toBe(false);
      expect(isOpenAt('2026-03-04T11:59Z')).toBe(false);
      expect(isOpenAt('2026-03-04T12:00Z')).toBe(true);
      expect(waiting.map(({ key }) => key)).toEqual(['freezes']);
    });

    it('keeps the windows of the plan, and shows that the new ones wait', () => {
      const byZone = { ...window, timeZone: collectorZone };
      const { policy, followed, waiting } = withCurrentLimits(unzoned, aPolicy({ windows: [byZone] }));
      expect(policy.windows).toEqual([window]);
      expect(followed).toEqual([]);
      expect(waiting.map(({ key }) => key)).toEqual(['windows']);
    });
  });

  it('removes windows by the zones of collectors and restores them when the plan knows the zones (P4)', () => {
    const byZone = aPolicy({ windows: [{ ...window, timeZone: collectorZone }] });
    const without = followed(aRollout({ policy: byZone }), aPolicy());
    expect(without.policy.windows).toEqual([]);
    const again = followed(followed(without, aPolicy({ concurrency: 1 })), byZone);
    expect(again.policy.windows).toEqual(byZone.windows);
  });

  it('caps the domains of the plan', () => {
    const db = { label: 'fields.cluster = db-7', cap: 4 };
    const prod = { label: 'category = prod', cap: 2 };
    const present = aPolicy({ maxInFlightPer: [{ key: 'fields.cluster', cap: 1 }] });
    expect(withCurrentCaps(someGroups({ domains: [db, prod] }), present).domains).toEqual([
      { ...db, cap: 1 },
      prod,
    ]);
  });
});
