import { describe, expect, it } from 'vitest';
import { admissionOf, expectedMs, nextOpening } from '../../../../src/rollout/decision/admission.ts';
import type { Lane } from '../../../../src/rollout/model/plan-groups.ts';
import type { Policy, WindowRule } from '../../../../src/rollout/model/policy.ts';
import type {
  Candidate,
  HeldStratum,
  LaneQueue,
  RolloutView,
} from '../../../../src/rollout/model/rollout.ts';
import { askedFor, someGroups, startedAt } from '../../../support/builders.ts';
import { aHeldStratum, aViewOf } from '../../../support/view-cases.ts';

const minute = 60_000;
const now = startedAt;
/** Monday, 22:00 UTC: an hour after `startedAt`. */
const closesAt = startedAt + 60 * minute;

const window = (fromHour: number, toHour: number, timeZone = 'UTC'): WindowRule => ({
  days: [1, 2, 3, 4, 5, 6, 7],
  fromMinute: fromHour * 60,
  toMinute: toHour * 60,
  timeZone,
});

function ones(...ids: readonly number[]): readonly Candidate[] {
  return ids.map((collectorId) => ({ collectorId, order: collectorId }));
}

function aQueue(changes: Partial<LaneQueue> = {}): LaneQueue {
  return { lane: 0, retries: [], pending: [], ...changes };
}

function aLane(changes: Partial<Lane> = {}): Lane {
  return { stratum: 0, timeZone: '', domains: [], ...changes };
}

interface Given extends Partial<Omit<RolloutView, 'rollout' | 'waves'>> {
  readonly policy?: Partial<Policy>;
  readonly anyTime?: true;
  readonly lanes?: readonly Lane[];
  readonly caps?: readonly number[];
  readonly heldStrata?: readonly HeldStratum[];
}

function view({ policy, lanes = [aLane()], caps = [], heldStrata = [], anyTime, ...given }: Given) {
  return aViewOf({
    policy: { concurrency: 4, ...policy },
    rollout: { strata: { held: heldStrata }, ...(anyTime && { rollback: { anyTime } }) },
    groups: someGroups({
      lanes,
      domains: caps.map((cap, index) => ({ label: `fields.cluster = ${index}`, cap })),
    }),
    ...given,
  });
}

const idsOf = (given: RolloutView) => admissionOf(given, now).picks.map(({ collectorId }) => collectorId);

describe('free slots (P2)', () => {
  it('wait for the next retry when no other upgrade could start', () => {
    const nextRetryAt = now + minute;
    expect(admissionOf(view({ nextRetryAt }), now)).toEqual({
      picks: [],
      blockers: [{ kind: 'retryNotDue', until: nextRetryAt }],
      wakeAt: nextRetryAt,
    });
    expect(admissionOf(view({ nextRetryAt, slotsTaken: 1 }), now)).toMatchObject({
      blockers: [],
      wakeAt: nextRetryAt,
    });
  });

  it('wait for the end of a freeze that lasts longer than the delay of the next retry', () => {
    const freezes = [
      { from: '2026-03-02T20:00', to: '2026-03-03T00:00', reason: 'month end', timeZone: 'UTC' },
    ];
    const until = startedAt + 180 * minute;
    const frozen = { kind: 'freeze', reason: 'month end', timeZone: '', until };
    const given = { policy: { freezes }, nextRetryAt: now + minute };
    expect(admissionOf(view(given), now)).toMatchObject({ blockers: [frozen], wakeAt: now + minute });
    const later = { ...given, nextRetryAt: until + minute };
    expect(admissionOf(view(later), now).blockers).toEqual([{ kind: 'retryNotDue', until: until + minute }]);

    const held = { candidates: [aQueue({ pending: ones(1) })], heldStrata: [aHeldStratum(0)] };
    const aside = view({ ...given, ...held });
    expect(admissionOf(aside, now).blockers).toMatchObject([{ kind: 'stratumHeld' }, frozen]);
    expect(nextOpening(aside, now)).toBe(until);
  });
});

describe('windows (P7)', () => {
  const candidates = [aQueue({ pending: ones(1) })];
  const open = { windows: [window(20, 22)] };

  it('allow a create while its upgrade is expected to end before they close', () => {
    const last = closesAt - 5 * minute;
    expect(admissionOf(view({ policy: open, candidates }), last).picks).toEqual([
      { collectorId: 1, startBy: last },
    ]);
    const late = admissionOf(view({ policy: open, candidates }), last + 1);
    expect(late.picks).toEqual([]);
    expect(late.blockers).toEqual([
      {
        kind: 'windowTooShort',
        timeZone: '',
        expectMs: 5 * minute,
        until: closesAt + 22 * 60 * minute,
      },
    ]);
    expect(late.wakeAt).toBe(closesAt + 22 * 60 * minute);
  });

  it('and freezes do not apply to a rollback that an operator allowed at any time', () => {
    const freezes = [{ from: '2000-01-01T00:00', to: '2100-01-01T00:00', reason: '', timeZone: 'UTC' }];
    const policy = { windows: [window(22, 23)], freezes };
    expect(admissionOf(view({ policy, candidates }), now).picks).toEqual([]);
    expect(admissionOf(view({ policy, candidates, anyTime: true }), now).picks).toEqual([
      { collectorId: 1, startBy: null },
    ]);
  });

  it('are cut by freezes', () => {
    const freezes = [
      { from: '2026-03-02T21:30', to: '2026-03-03T00:00', reason: 'release night', timeZone: 'UTC' },
    ];
    const before = admissionOf(view({ policy: { freezes }, candidates }), now);
    expect(before.picks).toEqual([{ collectorId: 1, startBy: startedAt + 25 * minute }]);
    const frozen = admissionOf(view({ policy: { freezes }, candidates }), startedAt + 30 * minute);
    expect(frozen.blockers).toEqual([
      { kind: 'freeze', reason: 'release night', timeZone: '', until: startedAt + 180 * minute },
    ]);
  });

  it('use the learned duration of the stratum, from ten upgrades on', () => {
    const learned = (count: number) =>
      view({ durations: new Map([[0, { count, medianMs: 9 * minute, p95Ms: 20 * minute }]]) });
    expect(expectedMs(learned(9), 0)).toBe(5 * minute);
    expect(expectedMs(learned(10), 0)).toBe(20 * minute);
    expect(expectedMs(learned(10), 1)).toBe(5 * minute);
    const given = view({ policy: open, candidates, durations: learned(10).durations });
    expect(admissionOf(given, now).picks).toEqual([{ collectorId: 1, startBy: closesAt - 20 * minute }]);
  });

  it('never use a duration beyond the limits of the policy, because an outage makes upgrades look slow', () => {
    const durations = new Map([[0, { count: 10, medianMs: 9 * minute, p95Ms: 300 * minute }]]);
    const { deadlineMs, verifyWithinMs } = view({}).rollout.policy.upgrade;
    expect(expectedMs(view({ durations }), 0)).toBe(deadlineMs + verifyWithinMs);
  });
});

describe('the blockers', () => {
  it('name each held stratum', () => {
    const lanes = [aLane({ stratum: 0 }), aLane({ stratum: 1 })];
    const candidates = [
      aQueue({ pending: ones(1), retries: ones(8) }),
      aQueue({ lane: 1, pending: ones(2) }),
    ];
    const given = view({ lanes, candidates, heldStrata: [aHeldStratum(0), aHeldStratum(1)] });
    expect(admissionOf(given, now)).toMatchObject({
      picks: [],
      blockers: ['s0', 's1'].map((label) => ({
        kind: 'stratumHeld',
        label,
        reason: askedFor('why'),
        until: null,
      })),
      wakeAt: null,
    });
  });

  it('are shown once each, the earliest end first, at most five', () => {
    const strata = Array.from({ length: 8 }, (_, stratum) => stratum);
    const blocked = (lanes: readonly Lane[]) =>
      admissionOf(
        view({
          lanes,
          candidates: lanes.map((_, lane) => aQueue({ lane, pending: ones(lane) })),
          heldStrata: strata.map((stratum) => aHeldStratum(stratum)),
          policy: { windows: [window(22, 23, 'collector')] },
        }),
        now,
      ).blockers;
    const zoned = aLane({ stratum: 9, timeZone: 'Etc/UTC' });
    const blockers = blocked([...strata.map((stratum) => aLane({ stratum })), zoned]);
    expect(blockers.length).toBe(5);
    expect(blockers[0]).toEqual({ kind: 'window', timeZone: 'Etc/UTC', until: closesAt });
    expect(blocked([aLane(), aLane()]).length).toBe(1);
  });
});

describe('who gets a free slot (P2)', () => {
  const lanes = [aLane(), aLane({ stratum: 1 })];
  const candidates = [
    aQueue({ retries: ones(9), pending: ones(4, 6) }),
    aQueue({ lane: 1, retries: ones(8), pending: ones(5) }),
  ];

  it('is a retry first, then the first pending collector of all lanes in plan order', () => {
    expect(idsOf(view({ lanes, candidates }))).toEqual([8, 9, 4, 5]);
    expect(idsOf(view({ lanes, candidates, slotsTaken: 3 }))).toEqual([8]);
    expect(idsOf(view({ lanes, candidates, slotsTaken: 5 }))).toEqual([]);
  });

  it('is a collector of another lane when one lane has to wait, without a blocker', () => {
    const held = view({ lanes, candidates, heldStrata: [aHeldStratum(0)] });
    expect(idsOf(held)).toEqual([8, 5]);
    expect(admissionOf(held, now).blockers).toEqual([]);
  });

  it('is never a collector beyond a cap, counted with those in flight', () => {
    const capped = [[0], [0, 1], [1], []].map((domains) => aLane({ domains }));
    const queues = [ones(1, 2), ones(3), ones(4, 5), ones(9)].map((pending, lane) =>
      aQueue({ lane, pending }),
    );
    const of = view({ lanes: capped, caps: [2, 1], domainsTaken: new Map([[0, 1]]), candidates: queues });
    expect(idsOf(of)).toEqual([1, 4, 9]);
    const full = { ...of, domainsTaken: new Map([[0, 2]]) };
    expect(idsOf(full)).toEqual([4, 9]);
    expect(admissionOf({ ...full, candidates: queues.slice(0, 1) }, now)).toEqual({
      picks: [],
      blockers: [{ kind: 'cap', label: 'fields.cluster = 0', cap: 2, until: null }],
      wakeAt: null,
    });
  });

  it('is decided again when the first window opens or retry is due, and the blockers name the closed windows', () => {
    const zoned = ['Etc/UTC', 'Asia/Tokyo', 'America/New_York'].map((timeZone) => aLane({ timeZone }));
    const queues = zoned.map((_, lane) => aQueue({ lane, pending: ones(lane) }));
    const policy = { windows: [window(20, 22, 'collector')] };
    const opensAt = startedAt + 4 * 60 * minute;
    const given = { lanes: zoned, candidates: queues, policy };
    expect(admissionOf(view(given), now)).toMatchObject({
      picks: [{ collectorId: 0 }],
      blockers: [{ timeZone: 'America/New_York', until: opensAt }, { timeZone: 'Asia/Tokyo' }],
      wakeAt: opensAt,
    });
    expect(admissionOf(view({ ...given, nextRetryAt: now + 1 }), now).wakeAt).toBe(now + 1);
    expect(admissionOf(view({ ...given, slotsTaken: 4 }), now).wakeAt).toBe(opensAt);
  });
});
