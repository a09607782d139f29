import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { type Rollout, type RolloutView, rolloutStates } from '../../../../src/rollout/model/rollout.ts';
import { endStates, type Upgrade, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import {
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';

const minute = 60_000;
const now = startedAt;
const everyDay = [1, 2, 3, 4, 5, 6, 7];

/** A canary that soaks until ten minutes from now, and a second wave; lanes in UTC and in Tokyo. */
function view(
  changes: Partial<RolloutView> = {},
  rollout: Partial<Rollout> = {},
  policy: Partial<Policy> = {},
): RolloutView {
  const waves = [aWaveRule({ name: 'canary', soakMs: 10 * minute }), aWaveRule()];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ concurrency: 4, waves, ...policy }),
      waves: [
        aWave({ name: 'canary', size: 5, state: 'soaking', soakEndsAt: now + 10 * minute }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 20 })],
    groups: someGroups({
      strata: [
        { label: 'Linux', sizes: [5, 10] },
        { label: 'Windows', sizes: [0, 10] },
      ],
      lanes: [
        { stratum: 0, timeZone: 'Etc/UTC', domains: [] },
        { stratum: 1, timeZone: 'Asia/Tokyo', domains: [] },
        { stratum: 0, timeZone: 'Etc/UTC', domains: [0] },
      ],
      domains: [{ label: 'fields.cluster = db', cap: 1 }],
    }),
    ...changes,
  });
}

const begun = {
  waves: [aWave({ name: 'canary', size: 5, state: 'passed' }), aWave({ name: 'rest', size: 20 })],
};
const waiting = (changes: Parameters<typeof anUpgrade>[1] = {}) =>
  anUpgrade({ state: 'pending' }, { wave: 1, ...changes });
const explain = (of: RolloutView, upgrade: Upgrade) => explainUpgrade(of, upgrade, now);

describe('why a collector waits', () => {
  it('names its wave, and when that may begin', () => {
    expect(explain(view(), waiting())).toEqual({
      reason: 'its wave rest waits for: gate of canary',
      until: now + 10 * minute,
    });
  });

  it('names its stratum when that is held, before anything else', () => {
    const heldStrata = [
      { stratum: 1, label: 'Windows', reason: because('3 of 3 failed'), by: 'daemon', at: now },
    ];
    const held = { reason: 'stratum Windows is held: 3 of 3 failed', until: null };
    expect(explain(view({}, { heldStrata }), waiting({ stratum: 1, lane: 1 }))).toEqual(held);
    expect(explain(view({}, { heldStrata, state: 'paused' }), waiting({ stratum: 1, lane: 1 }))).toEqual(
      held,
    );
    expect(explain(view({}, { heldStrata }), waiting()).reason).toMatch(/^its wave rest waits/);
  });

  it('names the window of its own zone, with its instant', () => {
    const windows = [{ days: everyDay, fromMinute: 20 * 60, toMinute: 22 * 60, timeZone: 'collector' }];
    const of = view({}, begun, { windows });
    const rollout = { ...of.rollout, policy: { ...of.rollout.policy, windows } };
    expect(explain({ ...of, rollout }, waiting({ stratum: 1, lane: 1 }))).toEqual({
      reason: 'outside the window in Asia/Tokyo',
      until: now + 14 * 60 * minute,
    });
  });

  it('names its cap', () => {
    const of = view({ domainsTaken: new Map([[0, 1]]) }, begun);
    expect(explain(of, waiting({ lane: 2, domains: [0] })).reason).toBe(
      'fields.cluster = db: 1 at a time are allowed, and in flight',
    );
  });

  it('names the slots when all are taken', () => {
    expect(explain(view({ slotsTaken: 4 }, begun), waiting())).toEqual({
      reason: 'all 4 slots are taken',
      until: null,
    });
    expect(explain(view({ slotsTaken: 3 }, begun), waiting())).toEqual({
      reason: 'is next in turn',
      until: null,
    });
  });

  it('does not name what stands in the way of others only', () => {
    const windows = [{ days: everyDay, fromMinute: 20 * 60, toMinute: 22 * 60, timeZone: 'collector' }];
    const candidates = [
      { lane: 0, retries: [], pending: [1, 2, 3, 4, 5].map((id) => ({ collectorId: id, order: id })) },
      { lane: 1, retries: [], pending: [{ collectorId: 6, order: 6 }] },
    ];
    const of = view({ candidates }, begun);
    const rollout = { ...of.rollout, policy: { ...of.rollout.policy, windows } };
    // Four of lane 0 get a slot now; the fifth waits for its turn, and not for a window in Tokyo.
    expect(decide({ ...of, rollout }, now).blockers).toHaveLength(1);
    expect(explain({ ...of, rollout }, waiting({ collectorId: 5, order: 5 })).reason).not.toMatch(/Tokyo/);
  });

  it('names the held build', () => {
    const buildHold = { build: 'b', by: 'ann', reason: 'breaks logs', at: now };
    expect(explain(view({ buildHold }, begun), waiting()).reason).toBe('build b is held: breaks logs');
  });
});

describe('when a retry comes', () => {
  const retrying = (dueAt: number) =>
    anUpgrade({ state: 'retrying', dueAt, reason: because('download failed') }, { wave: 1 });

  it('is told with its instant', () => {
    expect(explain(view({}, begun), retrying(now + 1))).toEqual({
      reason: 'is tried again: download failed',
      until: now + 1,
    });
    expect(explain(view({}, begun), retrying(now))).toEqual({
      reason: 'is next in turn; it is due for a retry: download failed',
      until: null,
    });
  });

  it('is not told of a rollout that is held: nothing starts then', () => {
    const held = view({}, { ...begun, state: 'held', reason: because('too many failures') });
    expect(explain(held, retrying(now + 1))).toEqual({
      reason: 'the rollout is held: too many failures; it is waiting for a retry: download failed',
      until: null,
    });
  });
});

describe('every state of an upgrade', () => {
  const at = now + 5 * minute;
  const each: readonly Upgrade[] = [
    anUpgrade({ state: 'pending' }),
    anUpgrade({ state: 'queued', dueAt: now, freshAt: now, startBy: null }),
    anUpgrade({ state: 'starting', sentAt: now, dueAt: now, startBy: null }),
    anUpgradingOne({ dueAt: at }),
    anUpgrade({
      state: 'verifying',
      taskId: '7',
      startedAt: now,
      verifyBy: at,
      dueAt: now,
      endedServiceAt: null,
      baselineHeartbeatAt: null,
      late: false,
    }),
    anUpgrade({ state: 'retrying', dueAt: at, reason: because('no space') }),
    anUpgrade({
      state: 'deferred',
      condition: 'notAlive',
      since: now,
      dueAt: at,
      reason: because('is not alive'),
    }),
    ...endStates.map((state) =>
      anUpgrade({ state, endedAt: now, reason: because(`why ${state}`), weight: 0, lost: false }),
    ),
  ];

  it('has words, in every state of a rollout', () => {
    expect(each.map(({ progress: { state } }) => state).toSorted()).toEqual([...upgradeStates].toSorted());
    for (const state of rolloutStates) {
      for (const upgrade of each) {
        for (const endedAt of [null, now]) {
          const { reason } = explain(view({}, { state, reason: because('why'), endedAt }), upgrade);
          expect(reason.trim(), `${upgrade.progress.state} ${state}`).not.toBe('');
          expect(reason).not.toMatch(/undefined|null| {2}/);
        }
      }
    }
  });

  it('has the instant that matters', () => {
    const untilOf = (state: string) =>
      each
        .filter((upgrade) => upgrade.progress.state === state)
        .map((upgrade) => explain(view(), upgrade).until);
    for (const state of ['upgrading', 'verifying', 'retrying', 'deferred'])
      expect(untilOf(state), state).toEqual([at]);
    for (const state of ['queued', 'starting', ...endStates]) expect(untilOf(state), state).toEqual([null]);
  });

  it('has words for one that was adopted without a task', () => {
    expect(explain(view(), anUpgradingOne({ taskId: null })).reason).not.toMatch(/ {2}/);
  });
});
