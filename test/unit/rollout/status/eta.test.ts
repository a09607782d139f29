import { describe, expect, it } from 'vitest';
import type { EtaUnknownReason } from '../../../../src/base/vocabulary.ts';
import { showComing } from '../../../../src/cli/shell/show-instant.ts';
import type { ApiBudgetStatus, Eta, Outage } from '../../../../src/contract/admin/rollout-status.ts';
import { assess } from '../../../../src/rollout/decision/assess.ts';
import { endOnlyText, etaText, shortEtaText } from '../../../../src/rollout/messages/eta-texts.ts';
import type { RolloutView, Wave } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { forecast } from '../../../../src/rollout/status/eta.ts';
import {
  anApiBudgetStatus,
  anOutage,
  anUpgradingOne,
  aPolicy,
  startedAt,
} from '../../../support/builders.ts';
import { aDeferredOne, aVerifyingOne } from '../../../support/upgrade-cases.ts';
import {
  aHeldStratum,
  aViewOf,
  type Counts,
  type ViewCase,
  type WaveCase,
  waiting,
} from '../../../support/view-cases.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = startedAt + hour;

/** A canary that soaks for another minute, and two waves behind it. */
const canary: WaveCase = {
  name: 'canary',
  counts: { succeeded: 5 },
  rule: { soakMs: 30 * minute },
  wave: { state: 'soaking', soakEndsAt: now + minute },
};
const early: WaveCase = {
  name: 'early',
  counts: { pending: 10 },
  rule: { soakMs: hour },
  wave: waiting,
};
const rest: WaveCase = { counts: { pending: 20 }, wave: waiting };
const view = (changes: ViewCase = {}) => aViewOf({ waves: [canary, early, rest], ...changes });

const eta = (of: RolloutView, api: ApiBudgetStatus = anApiBudgetStatus()) =>
  forecast(assess(of), now, api).eta;
const unknown = (reason: EtaUnknownReason): Eta => ({ kind: 'unknown', reason });

function at(of: RolloutView, api?: ApiBudgetStatus): number {
  const found = eta(of, api);
  if (found?.kind !== 'at') throw new Error(`not at an instant: ${JSON.stringify(found)}`);
  return found.at;
}

it('follows the pace of a wave and its earliest start', () => {
  const pace = { perHour: 20, from: 20, factor: 1, after: 1 };
  const slow = at(view({ waves: [canary, early, { ...rest, rule: { pace } }] }));
  expect((slow - at(view())) / hour).toBeGreaterThan(0.7);
  const late = view({ waves: [canary, early, { ...rest, rule: { notBefore: '2026-03-09T00:00' } }] });
  expect(at(late)).toBeGreaterThan(Date.parse('2026-03-09T00:00Z'));
});

describe('when each wave begins and ends', () => {
  const expected = (of: RolloutView) => forecast(assess(of), now, anApiBudgetStatus()).waves;

  it('is one after the other, until the end of the rollout', () => {
    const spans = expected(view());
    expect(spans[0]).toEqual({ from: now, to: now + minute });
    expect(spans[1]?.from).toBe(now + minute);
    expect(spans[1]?.to).toBe(spans[2]?.from);
    expect(spans[2]?.to).toBe(at(view()));
    for (const span of spans) expect(Object.values(span ?? {}).every(Number.isInteger)).toBe(true);
  });

  it('is known as far as the next approval, and not while a person or the service stops it', () => {
    const waves = [canary, early, { ...rest, rule: { approval: true } }];
    expect(expected(view({ waves }))).toHaveLength(2);
    expect(expected(view({ rollout: { state: 'held' } }))).toEqual([]);
    expect(expected(view({ rollout: { endedAt: now } }))).toEqual([]);
  });
});

describe('when a rollout ends (P16)', () => {
  it('includes the remaining soak, unless it was skipped', () => {
    const endsWith = (wave: Partial<Wave>) =>
      at(view({ waves: [{ ...canary, wave: { ...canary.wave, ...wave } }, early, rest] })) - at(view());
    expect(endsWith({ soakEndsAt: now + 11 * minute })).toBe(10 * minute);
    expect(endsWith({ soakSkippedAt: now })).toBe(-minute);
    expect(endsWith({ state: 'passed' })).toBe(-minute);
  });

  it('is later by the length of a pause of the service, during which a soak continues', () => {
    const during = (changes: Partial<Outage>) => anApiBudgetStatus({ outage: anOutage(changes) });
    const open = aViewOf();
    const soonest = at(open, during({ until: null }));
    expect(at(open, during({ until: now + 50 * minute })) - soonest).toBe(50 * minute);
    expect(at(view(), during({ until: now + minute }))).toBe(at(view(), during({ until: now + 1 })));
    expect(eta(open, during({ kind: 'serviceDown', until: now + minute }))).toEqual(unknown('serviceDown'));
  });

  it('is not before the next retry is due, whether others run or not', () => {
    const nextRetryAt = now + 5 * minute;
    const waves = [{ ...canary, counts: { succeeded: 4, retrying: 1 } }];
    const due = at(view({ waves, nextRetryAt: now }));
    expect(at(view({ waves, nextRetryAt })) - due).toBe(5 * minute - minute);
    expect(at(view({ waves, nextRetryAt, slotsTaken: 1 }))).toBe(due + 5 * minute);
  });

  it('excludes members of held strata, and says how many', () => {
    const strata = [{ stratum: 0, wave: 2, waiting: 20, active: 0, succeeded: 0, failed: 0, weight: 0 }];
    const rollout = { strata: { held: [aHeldStratum(0)] } };
    expect(eta(view({ strata, rollout }))).toMatchObject({ requests: 57, held: 20 });
    expect(eta(view())).toMatchObject({ requests: 236 });
    expect(eta(view())).not.toHaveProperty('held');
    const shown = eta(view({ strata, rollout })) ?? unknown('held');
    const showAt = () => '01:10';
    expect(etaText(shown, showAt)).toMatch(/^about 01:10 .*, 57 requests \(20 held not counted\)$/);
    expect(endOnlyText(shown, showAt)).toBe('about 01:10 (20 held not counted)');
    expect(shortEtaText(shown, now, showAt)).toMatch(/^done in about .* \(20 held not counted\)$/);
  });

  it('shortens a chain under a cap as its wave proceeds', () => {
    const chained = (pending: number) => {
      const counts = { succeeded: 10 - pending, pending };
      const waves = [canary, { ...early, counts, wave: { ...waiting, chain: 10 } }, rest];
      const learned = { count: 9, meanMs: 5 * minute };
      // All take as long as each other.
      const durations = new Map([[0, { count: 9, medianMs: 5 * minute, p95Ms: 5 * minute }]]);
      return at({ ...view({ waves }), learned, durations });
    };
    expect(chained(10) - chained(5)).toBe(5 * 5 * minute);
  });

  it('expects remaining upgrades to take as long as others of their stratum', () => {
    const learned = { count: 80, meanMs: 10 * minute };
    const durations = new Map([
      [0, { count: 40, medianMs: 5 * minute, p95Ms: 5 * minute }],
      [1, { count: 40, medianMs: 15 * minute, p95Ms: 15 * minute }],
    ]);
    const endOf = (stratum: number) => {
      const counted = { stratum, wave: 2, waiting: 30, active: 0, succeeded: 0, failed: 0, weight: 0 };
      return at({ ...view(), learned, durations, strata: [counted] });
    };
    const [ofQuick, ofAny, ofSlow] = [endOf(0), endOf(2), endOf(1)];
    expect(ofQuick).toBeLessThan(ofAny - 3 * minute);
    expect(ofSlow).toBeGreaterThan(ofAny + 3 * minute);
  });

  describe('while the last upgrades run', () => {
    const learned = { count: 40, meanMs: 6.5 * minute };
    const wide = { count: 40, medianMs: 5 * minute, p95Ms: 16 * minute, longestMs: 20 * minute };
    const narrow = { count: 40, medianMs: 5 * minute, p95Ms: 6 * minute, longestMs: 6 * minute };
    const { deadlineMs, verifyWithinMs } = aPolicy().upgrade;
    const once = { ...aPolicy().retry, maxAttempts: 1 };
    const one = (ageMs: number, collectorId = 1) => {
      const startedAt = now - ageMs;
      return anUpgradingOne({ startedAt, deadlineAt: startedAt + deadlineMs }, { collectorId });
    };
    const running = (inFlight: readonly Upgrade[], { pending = 0, durations = wide, retry = once } = {}) => {
      const counts = { succeeded: 40, pending, upgrading: inFlight.length };
      const waves = [{ counts }];
      const policy = { retry };
      const known = { durations: new Map([[0, durations]]), slotsTaken: inFlight.length, inFlight };
      const found = eta(aViewOf({ waves, policy, learned, ...known }));
      if (found?.kind !== 'at') throw new Error(`not at an instant: ${JSON.stringify(found)}`);
      const { at: endsAt, plusMinusMs, overdue } = found;
      return { leftMs: endsAt - now, toMs: endsAt + plusMinusMs - now, overdue };
    };

    it('is that of an upgrade which begins, for one that has just begun', () => {
      const without = at(
        aViewOf({ waves: [{ counts: { upgrading: 1 } }], learned, durations: new Map([[0, wide]]) }),
      );
      expect(running([one(0)]).leftMs / (without - now)).toBeCloseTo(1, 0);
    });

    it('is near where it has run for as long as others take', () => {
      expect(running([one(5 * minute)], { durations: narrow }).leftMs).toBeLessThan(2 * minute);
    });

    it('is as far as longer durations go, for one that has run for twice the median', () => {
      const { leftMs, toMs, overdue } = running([one(10 * minute)]);
      expect(overdue).toBeUndefined();
      expect(leftMs).toBeGreaterThan(3 * minute);
      expect(leftMs).toBeLessThan(9 * minute);
      expect(toMs).toBeGreaterThan(9 * minute);
      expect(toMs).toBeLessThan(deadlineMs - 10 * minute);
    });

    it('may be as late as its deadline and its verification, where none is known to have taken so long', () => {
      const ageMs = 21 * minute;
      const latest = (deadlineMs + verifyWithinMs - ageMs) / minute;
      expect(running([one(ageMs)]).toMs / minute).toBeCloseTo(latest, 0);
      expect(running([one(ageMs)], { durations: narrow }).toMs / minute).toBeCloseTo(latest, 0);
      const ofTwo = running([one(ageMs), one(minute, 2)]);
      expect(ofTwo.toMs / minute).toBeCloseTo(latest, 0);
      expect(ofTwo.overdue).toBe(1);
    });

    it('may be as late as a retry after its deadline, where one is left', () => {
      const ageMs = 21 * minute;
      const backoff = { ...once.backoff, initialMs: 20 * minute };
      const { toMs } = running([one(ageMs)], { retry: { ...once, maxAttempts: 2, backoff } });
      expect(toMs).toBeGreaterThan(deadlineMs - ageMs + 25 * minute);
      expect(toMs).toBeLessThan(deadlineMs - ageMs + 30 * minute);
    });

    it('is within its deadline, and never in the past', () => {
      for (const ageMs of [deadlineMs - minute, deadlineMs, deadlineMs + 30 * minute])
        for (const durations of [wide, narrow]) {
          const { leftMs, toMs } = running([one(ageMs)], { durations });
          expect(leftMs).toBeGreaterThan(0);
          expect(leftMs).toBeLessThan(1.1 * minute);
          expect(toMs).toBeGreaterThanOrEqual(minute);
        }
    });

    it('does not expect more of the others, the longer one runs that is slower than all before', () => {
      const leftOf = (ageMs: number) => running([one(ageMs)], { pending: 400 }).leftMs / minute;
      expect(leftOf(50 * minute)).toBeLessThanOrEqual(leftOf(21 * minute) + 0.1);
    });

    it('is the end of its verification, for one whose task has ended', () => {
      const verifying = aVerifyingOne({ startedAt: now - 12 * minute, verifyBy: now + verifyWithinMs });
      expect(running([verifying]).leftMs).toBeLessThan(minute);
    });

    it('does not come before that of a slow one, while others still start', () => {
      const slow = one(21 * minute);
      const latestMs = deadlineMs + verifyWithinMs - 21 * minute;
      expect(running([slow], { pending: 12 }).toMs).toBeGreaterThanOrEqual(latestMs);
    });
  });

  describe('that needs an approval', () => {
    const passed = [canary, early].map((each) => ({ ...each, wave: { state: 'passed' as const } }));
    const approval = { rule: { approval: true } };

    it('is a duration after the approval, and never an instant, while the approval is awaited', () => {
      const awaiting = (wave: Partial<Wave> = {}) =>
        view({ waves: [...passed, { ...rest, ...approval, wave: { state: 'awaitingApproval', ...wave } }] });
      const found = eta(awaiting());
      expect(found).toMatchObject({ kind: 'afterApproval', approvalAt: null });
      expect(found).not.toHaveProperty('at');
      expect(forecast(assess(awaiting()), now + 5 * hour, anApiBudgetStatus()).eta).toEqual(found);
      expect(eta(awaiting({ approvedAt: now }))).toMatchObject({ kind: 'at' });
    });

    it('covers all waves after the approval of its plan', () => {
      expect(eta(view({ rollout: { state: 'awaitingApproval' } }))).toEqual({
        kind: 'afterApproval',
        approvalAt: null,
        durationMs: at(view()) - now,
        plusMinusMs: expect.any(Number),
        requests: 236,
      });
    });

    it('shows when a later wave needs an approval, and the duration from then on', () => {
      const gate = at(view({ waves: [canary, early, { ...rest, counts: {} }] }));
      expect(eta(view({ waves: [canary, early, { ...rest, ...approval }] }))).toMatchObject({
        kind: 'afterApproval',
        approvalAt: gate,
        durationMs: at(view()) - gate,
      });
    });
  });

  const latest = { kind: 'atTheLatest', at: now + aPolicy().defer.upToMs, othersAt: null };
  const lastOne = { succeeded: 9, deferred: 1 };
  it.each<[string, Counts, 'open' | 'passed', object]>([
    ['at the latest when the last of them is given up', lastOne, 'passed', latest],
    ['the same while their wave is open', lastOne, 'open', latest],
    ['unknown where the wave shows nothing without them', { deferred: 1 }, 'open', unknown('collectors')],
    [
      'the same while others are running, with their end',
      { upgrading: 9, deferred: 1 },
      'open',
      { ...latest, othersAt: expect.any(Number) },
    ],
    [
      'estimated where they are given up before the others end',
      { pending: 9_000, deferred: 1 },
      'open',
      { kind: 'at' },
    ],
  ])('is, when only deferred collectors remain, %s', (_what, counts, state, expected) => {
    const waves = [{ counts, rule: { soakMs: hour }, wave: { state } }];
    expect(eta(aViewOf({ waves, deferred: [aDeferredOne({ since: now })] }))).toMatchObject(expected);
  });

  const freezes = [{ from: '2026-01-01T00:00', to: '2029-01-01T00:00', reason: '', timeZone: 'UTC' }];
  const nightly = { days: [0, 1, 2, 3, 4, 5, 6], fromMinute: 0, toMinute: 3, timeZone: 'UTC' };
  const why = { kind: 'empty', expected: 9 } as const;
  it.each<[EtaUnknownReason, ViewCase]>([
    ['held', { rollout: { state: 'held' } }],
    ['paused', { rollout: { state: 'paused' } }],
    ['rollingBack', { rollout: { state: 'rollingBack' } }],
    ['ending', { rollout: { state: 'aborted' } }],
    ['account', { account: { kind: 'another', compared: 3, matched: 0, renamed: 0 } }],
    [
      'inventory',
      { rollout: { inventory: { implausible: { since: now, readAt: now, size: 0, missing: 9, why } } } },
    ],
    ['noWindow', { policy: { freezes } }],
    ['windowTooShort', { policy: { windows: [nightly] } }],
    ['noWindow', { policy: { freezes }, waves: [canary, early, { ...rest, rule: { approval: true } }] }],
  ])('is unknown with the reason %s', (reason, changes) => {
    expect(eta(view(changes))).toEqual(unknown(reason));
  });

  it('does not exist once the rollout has ended', () => {
    expect(eta(view({ rollout: { state: 'succeeded', endedAt: now } }))).toBeNull();
  });
});

describe('the words of an end', () => {
  const figures = { plusMinusMs: 25_000, requests: 24 };
  const afterApproval = { kind: 'afterApproval', approvalAt: null, durationMs: 100_000, ...figures } as const;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const showAt = (at: number) => showComing(at, now);
  const both = (of: Eta) => [etaText(of, showAt), shortEtaText(of, now, showAt)];

  it.each<[Eta, readonly string[]]>([
    [afterApproval, ['after approval: 1m40s (±25s), 24 requests', '1m40s after approval']],
    [
      { ...afterApproval, approvalAt: now + minute },
      [
        'needs an approval about HH:01:00 ZONE, then 1m40s (±25s), 24 requests',
        '1m40s after a later approval',
      ],
    ],
    [
      { ...afterApproval, overdue: 1 },
      [
        'after approval: 1m40s (±25s, because 1 upgrade takes longer than all before), 24 requests',
        '1m40s after approval',
      ],
    ],
    [
      { kind: 'atTheLatest', at: now + 4 * minute, othersAt: now },
      [
        'about HH:00:00 ZONE, deferred collectors at the latest HH:04:00 ZONE',
        'done about HH:00:00 ZONE, deferred collectors at the latest HH:04:00 ZONE',
      ],
    ],
    [
      { kind: 'atTheLatest', at: now, othersAt: null },
      ['at the latest HH:00:00 ZONE', 'done at the latest HH:00:00 ZONE'],
    ],
    [unknown('held'), ['unknown: it is held', 'end unknown: it is held']],
  ])('show no instant that depends on an approval or is unknown: %o', (of, texts) => {
    // Hours are in the time zone of this machine.
    expect(
      both(of).map((text) => text.replaceAll(/\d\d(?=:\d\d:00)/g, 'HH').replaceAll(` ${zone}`, ' ZONE')),
    ).toEqual(texts);
  });

  it('name in a narrow column when a later approval is due, because the duration begins only then', () => {
    const later = { ...afterApproval, approvalAt: now + minute, held: 20 };
    expect(endOnlyText(later, () => '01:10')).toBe('approval about 01:10, then 1m40s (20 held not counted)');
    expect(endOnlyText(afterApproval, () => '01:10')).toBe('1m40s after approval');
  });

  it('include the time zone, and the date on another day', () => {
    const of = { kind: 'at', at: now + 50 * hour, ...figures } as const;
    const instant = showComing(of.at, now);
    expect(instant).toMatch(/^2026-03-0[45] \d\d:\d\d /);
    expect(instant.endsWith(` ${zone}`)).toBe(true);
    expect(both(of)).toEqual([`about ${instant} (±25s), 24 requests`, `done in about 2d2h, ${instant}`]);
    const today = showComing(now + 1, now);
    expect(today).toMatch(/^\d\d:00:00 /);
    expect(today.endsWith(` ${zone}`)).toBe(true);
  });
});
