import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import {
  anApiBudgetStatus,
  aPolicy,
  aPrometheusGate,
  aRollout,
  aStandstill,
  aStatus,
  aStratumSummary,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';

const minute = 60_000;
const now = startedAt + 60 * minute;

const gate = aPrometheusGate();

/** A canary that soaks for another minute, and two waves behind it, the last with an approval. */
function view(
  changes: Partial<RolloutView> = {},
  rollout: Partial<Rollout> = {},
  policy: Partial<Policy> = {},
): RolloutView {
  const waves = [
    aWaveRule({
      name: 'canary',
      soakMs: 30 * minute,
      maxFailures: { kind: 'count', count: 1 },
      gates: [gate],
    }),
    aWaveRule({ name: 'early', soakMs: 60 * minute }),
    aWaveRule({ approval: true }),
  ];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves, ...policy }),
      waves: [
        aWave({
          name: 'canary',
          size: 5,
          state: 'soaking',
          soakEndsAt: now + minute,
          gates: [aStatus({ verdict: 'met', askedAt: now, since: now, value: 0.998 })],
        }),
        aWave({ name: 'early', size: 10, state: 'waiting', openedAt: null }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [
      aSummary({ succeeded: 4, failed: 1 }, { weight: 1, lastChangeAt: startedAt }),
      aSummary({ pending: 10 }),
      aSummary({ pending: 20 }),
    ],
    ...changes,
  });
}

const status = (of: RolloutView) => describeRollout(of, now, anApiBudgetStatus());

describe('the status of a rollout', () => {
  it('tells how the API budget stands, unless the rollout has ended', () => {
    const api = anApiBudgetStatus({ standstill: aStandstill() });
    expect(describeRollout(view(), now, api).api).toEqual(api);
    expect(describeRollout(view({}, { state: 'succeeded', endedAt: now }), now, api).api).toBeNull();
  });

  it('counts late joiners in', () => {
    const of = view();
    const waves = of.rollout.waves.map((wave, index) => (index === 0 ? { ...wave, joined: 2 } : wave));
    const joined = status({ ...of, rollout: { ...of.rollout, waves } });
    expect(joined).toMatchObject({ planned: 37, waves: [{ size: 7, joined: 2 }, {}, {}] });
    // The denominator is the wave's size when it opened.
    expect(joined.waves[0]).toMatchObject({ failures: 1, failuresAllowed: 1 });
  });

  it('shows held strata with who waits, and what no early wave covers', () => {
    const of = view(
      {
        groups: someGroups({
          strata: [
            { label: 'Linux', sizes: [5, 10, 10] },
            { label: 'Windows', sizes: [0, 0, 10] },
          ],
        }),
        strata: [
          aStratumSummary({ stratum: 1, wave: 2, waiting: 7 }),
          aStratumSummary({ stratum: 1, wave: 1, waiting: 2 }),
          aStratumSummary({ stratum: 0, wave: 1, waiting: 5 }),
        ],
      },
      {
        heldStrata: [
          { stratum: 1, label: 'Windows', reason: because('2 of 2 failed'), by: 'daemon', at: now },
        ],
      },
    );
    expect(status(of).strata).toEqual({
      total: 2,
      held: [{ label: 'Windows', kind: 'text', reason: '2 of 2 failed', by: 'daemon', at: now, waiting: 9 }],
      uncovered: { count: 1, labels: ['Windows'] },
    });
    expect(status(of).waves.map(({ setAside, strata }) => [strata, setAside])).toEqual([
      [1, 0],
      [1, 2],
      [2, 7],
    ]);
  });
});

describe('the window in a status (P7)', () => {
  it('says when collectors go by their own', () => {
    const of = view();
    const freezes = [{ from: '2026-12-20T00:00', to: '2027-01-04T00:00', reason: '', timeZone: 'collector' }];
    const rollout = { ...of.rollout, policy: { ...of.rollout.policy, freezes } };
    expect(status({ ...of, rollout }).window).toMatchObject({ isOpen: true, ownZones: true });
  });
});

describe('what a wave waits for', () => {
  it('is the first gate before it, and its approval', () => {
    expect(status(view()).waves.map(({ waits }) => waits)).toEqual([
      null,
      'gate of canary',
      'gate of canary, approval',
    ]);
  });

  it('is the approval alone once its turn has come, and nothing once it was given', () => {
    const turn = (changes: Parameters<typeof aWave>[0]) =>
      view(
        {},
        {
          waves: [
            aWave({ name: 'canary', state: 'passed' }),
            aWave({ name: 'early', state: 'passed' }),
            aWave({ name: 'rest', state: 'awaitingApproval', ...changes }),
          ],
        },
      );
    const waitsOf = (of: RolloutView) => status(of).waves[2]?.waits;
    expect(waitsOf(turn({}))).toBe('approval');
    expect(waitsOf(turn({ approvedAt: now }))).toBeNull();
    expect(waitsOf(turn({ state: 'open' }))).toBeNull();
  });
});
