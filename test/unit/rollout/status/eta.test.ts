import { describe, expect, it } from 'vitest';
import { etaInstant, etaWords, shortEtaWords } from '../../../../src/cli/rollouts/eta-words.ts';
import { assess } from '../../../../src/rollout/decision/assess.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import type { ApiBudgetStatus, Standstill } from '../../../../src/rollout/status/api-budget-status.ts';
import { type Eta, etaOf } from '../../../../src/rollout/status/eta.ts';
import type { EtaUnknownReason } from '../../../../src/rollout/status/eta-unknown-words.ts';
import {
  anApiBudgetStatus,
  anUpgrade,
  aPolicy,
  aRollout,
  aStandstill,
  aStratumSummary,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  startedAt,
} from '../../../support/builders.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = startedAt + hour;

/** A canary that soaks for another minute, and two waves behind it. */
function view(
  changes: Partial<RolloutView> = {},
  rollout: Partial<Rollout> = {},
  policy: Partial<Policy> = {},
): RolloutView {
  const waves = [
    aWaveRule({ name: 'canary', soakMs: 30 * minute }),
    aWaveRule({ name: 'early', soakMs: 60 * minute }),
    aWaveRule(),
  ];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves, ...policy }),
      waves: [
        aWave({ name: 'canary', size: 5, state: 'soaking', soakEndsAt: now + minute }),
        aWave({ name: 'early', size: 10, state: 'waiting', openedAt: null }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 10 }), aSummary({ pending: 20 })],
    ...changes,
  });
}

/** The same with an approval before its last wave. */
const approved = { waves: [...view().rollout.policy.waves.slice(0, 2), aWaveRule({ approval: true })] };

const eta = (of: RolloutView, api: ApiBudgetStatus = anApiBudgetStatus()) => etaOf(assess(of), now, api);
const unknown = (reason: EtaUnknownReason): Eta => ({ kind: 'unknown', reason });

function at(of: RolloutView, api?: ApiBudgetStatus): number {
  const found = eta(of, api);
  if (found?.kind !== 'at') throw new Error(`not at an instant: ${JSON.stringify(found)}`);
  return found.at;
}

describe('when a rollout ends (P16)', () => {
  const withCanary = (changes: Parameters<typeof aWave>[0]) => {
    const of = view();
    const [canary, ...others] = of.rollout.waves;
    return { ...of, rollout: { ...of.rollout, waves: [aWave({ ...canary, ...changes }), ...others] } };
  };

  it('reckons with the rest of a soak, and with none that was skipped', () => {
    expect(at(withCanary({ soakEndsAt: now + 11 * minute })) - at(view())).toBe(10 * minute);
    expect(at(view()) - at(withCanary({ soakSkippedAt: now }))).toBe(minute);
    expect(at(view()) - at(withCanary({ state: 'passed' }))).toBe(minute);
  });

  it('is as much later as a pause of the service lasts, in which a soak goes on', () => {
    const during = (changes: Partial<Standstill>) => ({
      ...anApiBudgetStatus(),
      standstill: aStandstill(changes),
    });
    const open = view({}, { waves: [aWave({ size: 10, state: 'open' })] });
    const soonest = at(open, during({ until: null }));
    expect(at(open, during({ until: now + 50 * minute })) - soonest).toBe(50 * minute);
    expect(at(view(), during({ until: now + minute }))).toBe(at(view(), during({ until: now + 1 })));
    expect(eta(open, during({ kind: 'serviceDown', until: now + minute }))).toEqual(unknown('serviceDown'));
  });

  it('is not before the only retry that is left is due', () => {
    const nextRetryAt = now + 5 * minute;
    const left = { waves: [aSummary({ succeeded: 4, retrying: 1 }), aSummary(), aSummary()] };
    const due = at(view({ ...left, nextRetryAt: now }));
    expect(at(view({ ...left, nextRetryAt })) - due).toBe(5 * minute - minute);
    expect(at(view({ ...left, nextRetryAt, slotsTaken: 1 }))).toBe(due);
  });

  it('leaves out members of held strata', () => {
    const strata = [aStratumSummary({ stratum: 0, wave: 2, waiting: 20 })];
    const heldStrata = [{ stratum: 0, label: 'all', reason: because(''), by: 'ann', at: now }];
    expect(eta(view({ strata }, { heldStrata }))).toMatchObject({ requests: 80 });
    expect(eta(view())).toMatchObject({ requests: 240 });
  });

  it('shortens a chain under a cap with what is left of its wave', () => {
    const chained = (pending: number) => {
      const early = aSummary({ succeeded: 10 - pending, pending });
      const of = view({ waves: [aSummary({ succeeded: 5 }), early, aSummary({ pending: 20 })] });
      const waves = of.rollout.waves.map((wave, index) => (index === 1 ? { ...wave, chain: 10 } : wave));
      return { ...of, rollout: { ...of.rollout, waves } };
    };
    const step = 5 * minute + 20_000;
    expect(at(chained(10)) - at(chained(5))).toBe(5 * step);
  });

  describe('that needs an approval', () => {
    it('is a time after it while it is waited for, whatever the hour: never an instant', () => {
      const waves = view().rollout.waves.map((wave, index) =>
        index < 2 ? aWave({ ...wave, state: 'passed' }) : aWave({ ...wave, state: 'awaitingApproval' }),
      );
      const waiting = view({}, { waves }, approved);
      const found = eta(waiting);
      expect(found).toMatchObject({ kind: 'afterApproval', approvalAt: null });
      expect(found).not.toHaveProperty('at');
      expect(etaOf(assess(waiting), now + 5 * hour, anApiBudgetStatus())).toEqual(found);
      const given = waves.map((wave) => ({ ...wave, approvedAt: now }));
      expect(eta(view({}, { waves: given }, approved))).toMatchObject({ kind: 'at' });
    });

    it('takes all waves after the approval of its plan', () => {
      const found = eta(view({}, { state: 'awaitingApproval' }));
      expect(found).toEqual({
        kind: 'afterApproval',
        approvalAt: null,
        durationMs: at(view()) - now,
        plusMinusMs: expect.any(Number),
        requests: 240,
      });
    });

    it('says when an approval comes due that a later wave needs, and how long it takes from there', () => {
      const found = eta(view({}, {}, approved));
      const gate = at(view({ waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 10 }), aSummary({})] }));
      expect(found).toMatchObject({ kind: 'afterApproval', approvalAt: gate, durationMs: at(view()) - gate });
    });
  });

  describe('when only deferred collectors remain', () => {
    const deferred = (wave: number) =>
      anUpgrade(
        {
          state: 'deferred',
          condition: 'notAlive',
          since: now,
          dueAt: now,
          reason: because('it is offline'),
        },
        { wave },
      ) as Extract<ReturnType<typeof anUpgrade>, { state: 'deferred' }>;
    const givenUpAt = now + aPolicy().defer.upToMs;
    const last = (counts: Parameters<typeof aSummary>[0], state: 'open' | 'passed') =>
      view(
        { waves: [aSummary(counts)], deferred: [deferred(0)] },
        { waves: [aWave({ state })] },
        { waves: [aWaveRule({ soakMs: hour })] },
      );

    it('is at the latest when the last of them is given up', () => {
      expect(eta(last({ succeeded: 9, deferred: 1 }, 'passed'))).toEqual({
        kind: 'atTheLatest',
        at: givenUpAt,
      });
      expect(eta(last({ succeeded: 9, deferred: 1 }, 'open'))).toEqual({
        kind: 'atTheLatest',
        at: givenUpAt,
      });
    });

    it('is unknown where the wave shows nothing without them', () => {
      expect(eta(last({ deferred: 1 }, 'open'))).toEqual(unknown('collectors'));
    });

    it('is estimated while others are on their way', () => {
      expect(eta(last({ upgrading: 9, deferred: 1 }, 'open'))).toMatchObject({ kind: 'at' });
    });
  });

  it('is said to be unknown, with the reason', () => {
    for (const state of ['held', 'paused', 'rollingBack'] as const)
      expect(eta(view({}, { state }))).toEqual(unknown(state));
    expect(eta(view({}, { state: 'aborted' }))).toEqual(unknown('ending'));
    const account = { kind: 'another', compared: 3, matched: 0, renamed: 0 } as const;
    expect(eta(view({ account }))).toEqual(unknown('account'));
    const why = { kind: 'empty', expected: 9 } as const;
    const doubt = { since: now, readAt: now, size: 0, missing: 9, why };
    expect(eta(view({}, { doubt }))).toEqual(unknown('inventory'));
    const freezes = [{ from: '2026-01-01T00:00', to: '2029-01-01T00:00', reason: '', timeZone: 'UTC' }];
    expect(eta(view({}, {}, { freezes }))).toEqual(unknown('noWindow'));
    expect(eta(view({}, {}, { ...approved, freezes }))).toEqual(unknown('noWindow'));
  });

  it('is nothing once it has ended', () => {
    expect(eta(view({}, { state: 'succeeded', endedAt: now }))).toBeNull();
  });
});

describe('the words of an end', () => {
  const figures = { plusMinusMs: 25_000, requests: 24 };
  const afterApproval = { kind: 'afterApproval', approvalAt: null, durationMs: 100_000, ...figures } as const;
  const both = (of: Eta) => [etaWords(of, now), shortEtaWords(of, now)];

  it('name no instant that depends on an approval', () => {
    expect(both(afterApproval)).toEqual([
      'after approval: 1m40s (±25s), 24 requests',
      '1m40s after approval',
    ]);
    const later = { ...afterApproval, approvalAt: now + minute };
    expect(both(later)).toEqual([
      expect.stringMatching(/^approval due \d\d:01:00, then 1m40s \(±25s\), 24 requests$/),
      '1m40s after a later approval',
    ]);
  });

  it('say when at the latest, and that it is unknown', () => {
    expect(both({ kind: 'atTheLatest', at: now })).toEqual([
      expect.stringMatching(/^at the latest \d\d:00:00$/),
      expect.stringMatching(/^done at the latest \d\d:00:00$/),
    ]);
    expect(both({ kind: 'unknown', reason: 'held' })).toEqual([
      'unknown: it is held',
      'end unknown: it is held',
    ]);
  });

  it('carry a date and the zone on another day', () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const of = { kind: 'at', at: now + 50 * hour, ...figures } as const;
    const instant = etaInstant(of.at, now);
    expect(instant).toMatch(/^2026-03-0[45] \d\d:\d\d /);
    expect(instant.endsWith(` ${zone}`)).toBe(true);
    expect(both(of)).toEqual([`about ${instant} (±25s), 24 requests`, `done in about 2d2h, ${instant}`]);
    expect(both({ ...of, at: now + 1 })[0]).toMatch(/^about \d\d:00:00 \(±25s\), 24 requests$/);
  });
});
