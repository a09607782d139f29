import { describe, expect, it } from 'vitest';
import type { RolloutView, Wave } from '../../../../src/rollout/model/rollout.ts';
import { describeRollout } from '../../../../src/rollout/status/status.ts';
import { aPrometheusGate, aStatus } from '../../../support/builders/gate-builders.ts';
import {
  anApiBudgetStatus,
  aStratumSummary,
  askedFor,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { aHeldStratum, aViewOf, type ViewCase, type WaveCase, waiting } from '../../../support/view-cases.ts';

const minute = 60_000;
const now = startedAt + 60 * minute;

/** A canary that soaks for another minute, and two waves behind it, the last with an approval. */
const canary: WaveCase = {
  name: 'canary',
  counts: { succeeded: 4, failed: 1 },
  rule: { soakMs: 30 * minute, maxFailures: { kind: 'count', count: 1 }, gates: [aPrometheusGate()] },
  wave: {
    state: 'soaking',
    soakEndsAt: now + minute,
    gates: [aStatus({ verdict: 'met', askedAt: now, since: now, value: 0.998 })],
  },
};
const early: WaveCase = {
  name: 'early',
  counts: { pending: 10 },
  rule: { soakMs: 60 * minute },
  wave: waiting,
};
const rest: WaveCase = { counts: { pending: 20 }, rule: { approval: true }, wave: waiting };

const view = (changes: ViewCase = {}) => aViewOf({ waves: [canary, early, rest], ...changes });
const status = (of: RolloutView, api = anApiBudgetStatus()) => describeRollout(of, now, api);

describe('the status of a rollout', () => {
  it('includes late joiners', () => {
    const joined = { ...canary, wave: { ...canary.wave, joined: 2 } };
    const shown = status(view({ waves: [joined, early, rest] }));
    expect(shown).toMatchObject({ planned: 37, waves: [{ size: 7, joined: 2 }, {}, {}] });
    // The denominator is the wave's size when it opened.
    expect(shown.waves[0]).toMatchObject({ failures: 1, failuresAllowed: 1 });
  });

  it('shows held strata with their waiting members, and strata that no early wave covers', () => {
    const held = { label: 'Windows', reason: askedFor('2 of 2 failed'), at: now };
    const shown = status(
      view({
        groups: someGroups({
          strata: [
            { label: 'Linux', sizes: [5, 10, 10] },
            { label: 'Windows', sizes: [0, 0, 10] },
          ],
        }),
        strata: [
          aStratumSummary({ stratum: 1, wave: 2, waiting: 7 }),
          aStratumSummary({ stratum: 1, wave: 1, waiting: 2, failed: 3 }),
          aStratumSummary({ stratum: 0, wave: 1, waiting: 5 }),
        ],
        rollout: { strata: { held: [aHeldStratum(1, held)] } },
      }),
    );
    expect(shown.strata).toEqual({
      total: 2,
      held: [
        {
          label: 'Windows',
          kind: 'asked',
          reason: '2 of 2 failed',
          by: 'daemon',
          at: now,
          waiting: 9,
          failed: 3,
        },
      ],
      uncovered: { count: 1, labels: ['Windows'] },
    });
    expect(shown.waves.map(({ setAside, strata }) => [strata, setAside])).toEqual([
      [1, 0],
      [1, 2],
      [2, 7],
    ]);
  });

  it('shows the failures of a breach when it was held, and the current ones', () => {
    const failures = {
      wave: 'canary',
      failures: 2,
      failuresAllowed: 1,
      acknowledged: 0,
      lost: 0,
      lostWeight: 3,
    };
    const shared = {
      attributes: [{ key: 'osName', value: 'Windows*' }],
      ...{ failed: 2, tried: 2, elsewhere: { failed: 0, tried: 9 }, share: 0.1 },
    };
    const rollout = { state: 'held', reason: { kind: 'failures', failures, shared } } as const;
    const reasonWith = (failed: number, changes = {}) =>
      status({
        ...view({ rollout, waves: [{ ...canary, counts: { succeeded: 10, failed } }, early, rest] }),
        ...changes,
      }).reason;
    const then = 'wave canary: 2 failures, 1 allowed';
    expect(reasonWith(8)).toContain(`${then} when it was held; 8 failures now; all 2 failures have osName=`);
    // What is known now of what they share is a field of its own.
    expect(reasonWith(2, { sharedAttribute: shared })).toBe(then);
    const strata = [aStratumSummary({ stratum: 1, failed: 4, weight: 4 })];
    const held = { ...rollout, strata: { held: [aHeldStratum(1)] } };
    const shown = status(
      view({ rollout: held, strata, waves: [{ ...canary, counts: { failed: 4 } }, early, rest] }),
    );
    expect(shown.reason).toContain(
      `${then} when it was held; 0 failures now, not counting 4 of held strata; all`,
    );
  });

  it('shows the failures of a held stratum when it was held, and the current ones', () => {
    const reason = { kind: 'outlier', failed: 2, tried: 4, elsewhere: { failed: 0, tried: 23 } } as const;
    const reasonOf = (failed: number, succeeded: number) =>
      status(
        view({
          strata: [aStratumSummary({ stratum: 1, failed, succeeded })],
          rollout: { strata: { held: [aHeldStratum(1, { reason })] } },
        }),
      ).strata.held[0]?.reason;
    expect(reasonOf(2, 2)).toBe('2 of 4 failed, 0 of 23 elsewhere');
    expect(reasonOf(9, 2)).toBe('2 of 4 failed, 0 of 23 elsewhere when it was held; 9 of 11 now');
    expect(reasonOf(0, 0)).toBe('2 of 4 failed, 0 of 23 elsewhere');
  });

  it('shows that a build was released since it was held for it', () => {
    const reason = { kind: 'buildHeld', build: '19.536-4', reason: 'dev-1: 2 failures' } as const;
    const rollout = { state: 'held', reason } as const;
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'dev-1: 2 failures', at: now };
    const isHeld = 'build 19.536-4 is held: dev-1: 2 failures';
    expect(status(view({ rollout, buildHold })).reason).toBe(isHeld);
    const released = 'build 19.536-4 was held: dev-1: 2 failures; it is released';
    expect(status(view({ rollout, buildHold: null }))).toMatchObject({
      reason: released,
      blockers: [{ kind: 'held', reason: `the rollout is held: ${released}` }],
    });
  });

  it('shows what can start since it was held for its held strata alone', () => {
    const label = 'osName=Windows*';
    const reason = { kind: 'onlyHeldStrata', upgrades: 15, labels: [label] } as const;
    const held = [aHeldStratum(1, { label, reason: askedFor('disk'), at: now })];
    const shownOf = (pending: number, waits: number) =>
      status(
        view({
          waves: [{ counts: { pending }, wave: { state: 'passed' } }],
          strata: [aStratumSummary({ stratum: 1, waiting: waits })],
          rollout: { state: 'held', reason, strata: { held: waits === 0 ? [] : held } },
        }),
      );
    expect(shownOf(20, 20).reason).toBe(
      'all else is done: 20 collectors of held strata wait (osName=Windows*); release them, or resume to end without them',
    );
    const released = 'group osName=Windows* is released: 15 collectors can start after a resume';
    expect(shownOf(15, 0)).toMatchObject({
      reason: released,
      blockers: [{ kind: 'held', reason: `the rollout is held: ${released}` }],
    });
    expect(shownOf(106, 104).reason).toBe(
      '2 collectors can start after a resume; 104 collectors of held strata wait (osName=Windows*)',
    );
  });

  it('shows when collectors have windows in their own time zones (P7)', () => {
    const freezes = [{ from: '2026-12-20T00:00', to: '2027-01-04T00:00', reason: '', timeZone: 'collector' }];
    expect(status(view({ policy: { freezes } })).window).toMatchObject({ isOpen: true, ownZones: true });
  });
});

describe('what a wave waits for', () => {
  it('is the first earlier gate, and its approval', () => {
    expect(status(view()).waves.map(({ waits }) => waits)).toEqual([
      null,
      'gate of canary',
      'gate of canary, approval',
    ]);
  });

  it.each<[string, Partial<Wave>, string | null]>([
    ['the approval alone once its turn has come', { state: 'awaitingApproval' }, 'approval'],
    ['nothing once that was given', { state: 'awaitingApproval', approvedAt: now }, null],
    ['nothing once it is open', { state: 'open' }, null],
  ])('is %s', (_what, wave, waits) => {
    const passed = [canary, early].map((each) => ({ ...each, wave: { state: 'passed' as const } }));
    expect(status(view({ waves: [...passed, { ...rest, wave }] })).waves[2]?.waits).toBe(waits);
  });
});
