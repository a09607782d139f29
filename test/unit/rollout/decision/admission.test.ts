import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessCalendar } from '../../../../src/rollout/calendar/calendar.ts';
import { admit, expectedMs, judgeLane } from '../../../../src/rollout/decision/admission.ts';
import { blockerWords } from '../../../../src/rollout/messages/blockers.ts';
import type { Lane } from '../../../../src/rollout/model/plan-groups.ts';
import type { Policy, WindowRule } from '../../../../src/rollout/model/policy.ts';
import type {
  Candidate,
  HeldStratum,
  LaneQueue,
  RolloutView,
} from '../../../../src/rollout/model/rollout.ts';
import { because, someGroups, startedAt } from '../../../support/builders.ts';
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
    rollout: { heldStrata, ...(anyTime && { anyTime }) },
    groups: someGroups({
      lanes,
      domains: caps.map((cap, index) => ({ label: `fields.cluster = ${index}`, cap })),
    }),
    ...given,
  });
}

const idsOf = (given: RolloutView, at = now) => admit(given, at).picks.map(({ collectorId }) => collectorId);

describe('free slots (P2)', () => {
  it('wait for the next retry where nobody else could start', () => {
    const nextRetryAt = now + minute;
    expect(admit(view({ nextRetryAt }), now)).toEqual({
      picks: [],
      blockers: [{ kind: 'retryNotDue', until: nextRetryAt }],
      wakeAt: nextRetryAt,
    });
    expect(admit(view({ nextRetryAt, slotsTaken: 1 }), now)).toMatchObject({
      blockers: [],
      wakeAt: nextRetryAt,
    });
  });
});

describe('windows (P7)', () => {
  const candidates = [aQueue({ pending: ones(1) })];
  const open = { windows: [window(20, 22)] };

  it('let a create leave as long as its upgrade is expected to end before they close', () => {
    const last = closesAt - 5 * minute;
    expect(admit(view({ policy: open, candidates }), last).picks).toEqual([
      { collectorId: 1, startBy: last },
    ]);
    const late = admit(view({ policy: open, candidates }), last + 1);
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

  it('and freezes do not bind a rollback that a person lets start at any time', () => {
    const freezes = [{ from: '2000-01-01T00:00', to: '2100-01-01T00:00', reason: '', timeZone: 'UTC' }];
    const policy = { windows: [window(22, 23)], freezes };
    expect(admit(view({ policy, candidates }), now).picks).toEqual([]);
    expect(admit(view({ policy, candidates, anyTime: true }), now).picks).toEqual([
      { collectorId: 1, startBy: null },
    ]);
  });

  it('are cut by freezes', () => {
    const freezes = [
      { from: '2026-03-02T21:30', to: '2026-03-03T00:00', reason: 'release night', timeZone: 'UTC' },
    ];
    const before = admit(view({ policy: { freezes }, candidates }), now);
    expect(before.picks).toEqual([{ collectorId: 1, startBy: startedAt + 25 * minute }]);
    const frozen = admit(view({ policy: { freezes }, candidates }), startedAt + 30 * minute);
    expect(frozen.blockers).toEqual([
      { kind: 'freeze', reason: 'release night', timeZone: '', until: startedAt + 180 * minute },
    ]);
  });

  it('reckon with what was learned of the stratum, from ten durations on', () => {
    const learned = (count: number) => view({ durations: new Map([[0, { count, p95Ms: 20 * minute }]]) });
    expect(expectedMs(learned(9), 0)).toBe(5 * minute);
    expect(expectedMs(learned(10), 0)).toBe(20 * minute);
    expect(expectedMs(learned(10), 1)).toBe(5 * minute);
    const given = view({ policy: open, candidates, durations: learned(10).durations });
    expect(admit(given, now).picks).toEqual([{ collectorId: 1, startBy: closesAt - 20 * minute }]);
  });

  it('reckon with no more than the limits of the policy: hours in which nobody could be polled are no upgrade', () => {
    const durations = new Map([[0, { count: 10, p95Ms: 300 * minute }]]);
    const { deadlineMs, verifyWithinMs } = view({}).rollout.policy.upgrade;
    expect(expectedMs(view({ durations }), 0)).toBe(deadlineMs + verifyWithinMs);
  });
});

describe('the blockers', () => {
  it('name each held stratum that stands in the way', () => {
    const lanes = [aLane({ stratum: 0 }), aLane({ stratum: 1 })];
    const candidates = [
      aQueue({ pending: ones(1), retries: ones(8) }),
      aQueue({ lane: 1, pending: ones(2) }),
    ];
    const given = view({ lanes, candidates, heldStrata: [aHeldStratum(0), aHeldStratum(1)] });
    expect(admit(given, now)).toMatchObject({
      picks: [],
      blockers: ['s0', 's1'].map((label) => ({
        kind: 'stratumHeld',
        label,
        reason: because('why'),
        until: null,
      })),
      wakeAt: null,
    });
  });

  it('are shown once each, the earliest end first, at most five', () => {
    const strata = Array.from({ length: 8 }, (_, stratum) => stratum);
    const blocked = (lanes: readonly Lane[]) =>
      admit(
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

describe('admission, whatever the lanes', () => {
  const zones = ['', 'Etc/UTC', 'Asia/Tokyo', 'America/New_York'];
  const given = fc
    .record({
      concurrency: fc.integer({ min: 1, max: 8 }),
      slotsTaken: fc.integer({ min: 0, max: 9 }),
      caps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      taken: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
      lanes: fc.array(
        fc.record({
          stratum: fc.integer({ min: 0, max: 3 }),
          zone: fc.constantFrom(...zones),
          domains: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
          retries: fc.integer({ min: 0, max: 2 }),
          pending: fc.integer({ min: 0, max: 3 }),
        }),
        { minLength: 1, maxLength: 7 },
      ),
      heldStrata: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
      windows: fc.option(
        fc.record({ from: fc.integer({ min: 0, max: 23 }), to: fc.integer({ min: 0, max: 24 }) }),
        {
          nil: null,
        },
      ),
      p95Ms: fc.integer({ min: minute, max: 180 * minute }),
      nextRetryAt: fc.option(fc.integer({ min: now + 1, max: now + 100 * minute }), { nil: null }),
      at: fc.integer({ min: 0, max: 24 * 60 }),
    })
    .map((made) => {
      let collectorId = 0;
      const take = (count: number, order: () => number) =>
        Array.from({ length: count }, () => ({ collectorId: ++collectorId, order: order() }));
      const lanes = made.lanes.map(({ stratum, zone, domains }) =>
        aLane({ stratum, timeZone: zone, domains: domains.filter((domain) => domain < made.caps.length) }),
      );
      const candidates = made.lanes
        .map(({ retries, pending }, lane) =>
          aQueue({
            lane,
            retries: take(retries, () => now - collectorId),
            pending: take(pending, () => (collectorId * 7) % 31),
          }),
        )
        .filter(({ retries, pending }) => retries.length + pending.length > 0);
      return {
        at: now + made.at * minute,
        view: view({
          policy: {
            concurrency: made.concurrency,
            windows: made.windows === null ? [] : [window(made.windows.from, made.windows.to, 'collector')],
          },
          lanes,
          caps: made.caps,
          candidates,
          slotsTaken: made.slotsTaken,
          domainsTaken: new Map(made.taken.entries()),
          heldStrata: made.heldStrata.map((stratum) => aHeldStratum(stratum)),
          durations: new Map([[0, { count: 50, p95Ms: made.p95Ms }]]),
          nextRetryAt: made.nextRetryAt,
        }),
      };
    });

  const always = (holds: (of: RolloutView, at: number) => void) =>
    fc.assert(
      fc.property(given, ({ view: of, at }) => holds(of, at)),
      { numRuns: 500 },
    );

  const laneOf = (of: RolloutView, collectorId: number) =>
    of.candidates.find(({ retries, pending }) =>
      [...retries, ...pending].some((candidate) => candidate.collectorId === collectorId),
    )?.lane ?? -1;

  const room = (of: RolloutView, picked: readonly number[], domain: number) => {
    const taken = picked.filter((id) => of.groups.lanes[laneOf(of, id)]?.domains.includes(domain)).length;
    return (of.groups.domains[domain]?.cap ?? 0) - (of.domainsTaken.get(domain) ?? 0) - taken;
  };

  it('exceeds neither the slots nor any cap, and picks nobody twice (P2)', () => {
    always((of, at) => {
      const picked = idsOf(of, at);
      expect(new Set(picked).size).toBe(picked.length);
      if (picked.length > 0)
        expect(of.slotsTaken + picked.length).toBeLessThanOrEqual(of.rollout.policy.concurrency);
      for (const id of picked)
        for (const domain of of.groups.lanes[laneOf(of, id)]?.domains ?? [])
          expect(room(of, picked, domain)).toBeGreaterThanOrEqual(0);
    });
  });

  it('never picks from a blocked lane, nor lets a create leave too late for its window (P7)', () => {
    let windowed = 0;
    always((of, at) => {
      for (const { collectorId, startBy } of admit(of, at).picks) {
        const lane = laneOf(of, collectorId);
        expect(judgeLane(of, lane, at)).toEqual({ kind: 'free', startBy });
        if (startBy === null) continue;
        windowed += 1;
        expect(at).toBeLessThanOrEqual(startBy);
        const stratum = of.groups.lanes[lane]?.stratum ?? 0;
        // At the last instant it may still start, and a moment later no more.
        expect(judgeLane(of, lane, startBy).kind).toBe('free');
        expect(judgeLane(of, lane, startBy + 1)).toMatchObject({
          blocker: { kind: expect.stringMatching(/^(window|freeze|windowTooShort)$/) },
        });
        // The window is open until the upgrade has ended, and not a moment longer than that.
        const endsBy = startBy + expectedMs(of, stratum);
        const zone = of.groups.lanes[lane]?.timeZone ?? '';
        expect(assessCalendar(of.rollout.policy, zone, at)).toMatchObject({ isOpen: true, until: endsBy });
      }
    });
    expect(windowed).toBeGreaterThan(100);
  });

  it('leaves a slot idle only if every candidate left has to wait', () => {
    always((of, at) => {
      const picked = idsOf(of, at);
      if (of.slotsTaken + picked.length >= of.rollout.policy.concurrency) return;
      for (const { lane, retries, pending } of of.candidates) {
        const left = [...retries, ...pending].filter(({ collectorId }) => !picked.includes(collectorId));
        if (left.length === 0) continue;
        const isFull = of.groups.lanes[lane]?.domains.some((domain) => room(of, picked, domain) <= 0);
        expect(judgeLane(of, lane, at).kind === 'blocked' || isFull).toBe(true);
      }
    });
  });

  it('says why when it picks nobody, and wakes for whatever ends by itself', () => {
    always((of, at) => {
      const { picks, blockers, wakeAt } = admit(of, at);
      if (of.candidates.length > 0 && picks.length === 0) expect(blockers.length).toBeGreaterThan(0);
      for (const blocker of blockers) {
        const { until } = blocker;
        expect(blockerWords(blocker).trim()).not.toBe('');
        if (until !== null) expect(wakeAt).toBeLessThanOrEqual(until);
      }
      if (of.nextRetryAt !== null) expect(wakeAt).toBeLessThanOrEqual(of.nextRetryAt);
      if (wakeAt !== null && of.nextRetryAt === null) expect(wakeAt).toBeGreaterThan(at);
    });
  });

  it('lets nobody overtake who could have started in its place', () => {
    always((of, at) => {
      const picked = idsOf(of, at);
      const isPicked = ({ collectorId }: Candidate) => picked.includes(collectorId);
      const pendingPicked = of.candidates.flatMap(({ pending }) => pending.filter(isPicked));
      const retriesPicked = of.candidates.flatMap(({ retries }) => retries.filter(isPicked));
      for (const { lane, retries, pending } of of.candidates) {
        if (judgeLane(of, lane, at).kind === 'blocked') continue;
        if (of.groups.lanes[lane]?.domains.length !== 0) continue;
        const isLeft = (candidate: Candidate) => !isPicked(candidate);
        if (retries.some(isLeft)) expect(pendingPicked).toEqual([]);
        for (const left of retries.filter(isLeft))
          for (const other of retriesPicked) expect(other.order).toBeLessThanOrEqual(left.order);
        for (const left of pending.filter(isLeft))
          for (const other of pendingPicked) expect(other.order).toBeLessThanOrEqual(left.order);
      }
    });
  });
});
