import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dueAtOf,
  endStates,
  isEnd,
  type Upgrade,
  type UpgradeProgress,
} from '../../../../src/rollout/model/upgrade.ts';
import { evolve, isWatched, judgeRow } from '../../../../src/rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import { nextRareTaskPollAt, nextTaskPollAt } from '../../../../src/rollout/upgrade/poll-schedule.ts';
import { readingPeriod } from '../../../../src/rollout/upgrade/reading-period.ts';
import type { RowVerdict } from '../../../../src/rollout/upgrade/state-rules.ts';
import {
  aContext,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  because,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const periodMs = 20 * seconds;
const policy = aPolicy();
const { expectMs } = policy.upgrade;

type Row = Parameters<typeof judgeRow>[1];

/** Heard from a moment ago, on its old build. */
function aRow(at: number, changes: Partial<Row> = {}): Row {
  return { build: oldBuild, alive: true, lastSeenAlive: at - 5 * seconds, serviceAt: at, ...changes };
}

function judged(upgrade: Upgrade, at: number, changes: Partial<Row> = {}): RowVerdict {
  return judgeRow(upgrade, aRow(at, changes), { at, periodMs, policy, trustedSince: 0 });
}

function aVerifyingOne(changes: Partial<Extract<UpgradeProgress, { state: 'verifying' }>> = {}): Upgrade {
  return anUpgrade({
    state: 'verifying',
    taskId: '77',
    startedAt: t,
    verifyBy: t + 15 * minutes,
    dueAt: t + 5 * minutes + 20 * seconds,
    endedServiceAt: t + 5 * minutes,
    baselineHeartbeatAt: null,
    late: false,
    ...changes,
  });
}

function aDeferredOne(condition: 'notAlive' | 'inUpgrade', dueAt = t + 30 * minutes): Upgrade {
  return anUpgrade({ state: 'deferred', condition, since: t, dueAt, reason: because('away') });
}

describe('how often the inventory is read', () => {
  const watched = (count: number, fleetSize = 1_000, expected = expectMs) => ({
    watched: count,
    fleetSize,
    expectMs: expected,
  });

  const periodOf = (rollouts: Parameters<typeof readingPeriod>[0]) => readingPeriod(rollouts, 4);

  it('stretches in proportion with fewer, up to three times, and then single looks cost less', () => {
    expect(periodOf([watched(2)])).toBe(40 * seconds);
    expect(periodOf([watched(1)])).toBeNull();
    expect(periodOf([watched(14, 10_000)])).toBeCloseTo((20 * seconds * 40) / 14);
    expect(periodOf([watched(13, 10_000)])).toBeNull();
    // A page that is begun is a page.
    expect(periodOf([watched(4, 1_001)])).toBe(40 * seconds);
  });

  it('takes a quarter of the requests at most, however large the fleet is', () => {
    expect(periodOf([watched(80, 20_000)])).toBe(20 * seconds);
    expect(periodOf([watched(400, 100_000)])).toBe(100 * seconds);
    expect(readingPeriod([watched(400, 100_000)], 40)).toBe(20 * seconds);
  });

  it('counts the pages that the service needed, where it gives fewer collectors a page (P8)', () => {
    const pagesOf = (pages: number) => readingPeriod([watched(100)], 4, pages);
    // Two of the last one, to show that it was the last; and the overlap of a list that shrinks.
    expect(pagesOf(3)).toBe(20 * seconds);
    // A quarter of the requests at most.
    expect(pagesOf(53)).toBe(53 * seconds);
    expect(readingPeriod([watched(40)], 4, 53)).toBeNull();
  });

  it('is shared by several rollouts: the sum of the watched, at the pace of the most hurried', () => {
    expect(periodOf([watched(2), watched(2, 1_000, minutes)])).toBe(4 * seconds);
    // One that watches nothing hurries nobody.
    expect(periodOf([watched(4), watched(0, 50_000, minutes)])).toBe(20 * seconds);
  });
});

describe('a row of a collector whose task goes on', () => {
  const at = t + 4 * minutes;
  const running = anUpgradingOne({ dueAt: at + 1 });

  it('stirs when a heartbeat was missed by the clock of that very page', () => {
    expect(judged(running, at, { lastSeenAlive: at - 20 * seconds })).toBe('unchanged');
    expect(judged(running, at, { lastSeenAlive: at - 21 * seconds })).toBe('changeHinted');
    expect(judged(running, at, { lastSeenAlive: at - minutes })).toBe('changeHinted');
    // Its clock is far from ours.
    const serviceAt = at + 90 * minutes;
    expect(judged(running, at, { lastSeenAlive: serviceAt - 5 * seconds, serviceAt })).toBe('unchanged');
    expect(judged(running, at, { lastSeenAlive: serviceAt - 30 * seconds, serviceAt })).toBe('changeHinted');
  });

  it('asks for a look with almost every page while a restart lasts, and then less and less often', () => {
    const silentFor = (silenceMs: number, sincePollMs: number) =>
      judged(anUpgradingOne({ polledAt: at - sincePollMs, dueAt: at + 1 }), at, {
        lastSeenAlive: at - silenceMs,
      });
    expect(silentFor(40 * seconds, 17 * seconds)).toBe('unchanged');
    expect(silentFor(40 * seconds, 18 * seconds)).toBe('changeHinted');
    expect(silentFor(60 * seconds, 18 * seconds)).toBe('changeHinted');
    expect(silentFor(200 * seconds, 59 * seconds)).toBe('unchanged');
    expect(silentFor(200 * seconds, 60 * seconds)).toBe('changeHinted');
    // Where an upgrade takes half as long, in half the time.
    const hurried = aPolicy({ upgrade: { ...policy.upgrade, expectMs: expectMs / 2 } });
    const looked = anUpgradingOne({ polledAt: at - 30 * seconds, dueAt: at + 1 });
    const row = aRow(at, { lastSeenAlive: at - 200 * seconds });
    expect(judgeRow(looked, row, { at, periodMs, policy: hurried, trustedSince: 0 })).toBe('changeHinted');
  });

  it('takes a dead one, of which nobody knows since when, for silent since its task began', () => {
    const looked = (sincePollMs: number) =>
      judged(anUpgradingOne({ polledAt: at - sincePollMs, dueAt: at + 1 }), at, {
        alive: false,
        lastSeenAlive: null,
      });
    expect(looked(71 * seconds)).toBe('unchanged');
    expect(looked(72 * seconds)).toBe('changeHinted');
  });

  it('asks more often for one that shows the target, in proportion to its age', () => {
    const looked = (sincePollMs: number) =>
      judged(
        anUpgradingOne({ polledAt: t + 20 * minutes, dueAt: t + 30 * minutes }),
        t + 20 * minutes + sincePollMs,
        {
          build: targetBuild,
        },
      );
    expect(looked(59 * seconds)).toBe('unchanged');
    expect(looked(60 * seconds)).toBe('changeHinted');
  });

  it('says nothing when its look is due, is being repeated, or is one at the collector itself', () => {
    expect(judged(anUpgradingOne({ dueAt: at }), at, { build: targetBuild })).toBe('none');
    expect(
      judged({ ...running, tally: { ...running.tally, failedPolls: 1 } }, at, { build: targetBuild }),
    ).toBe('none');
    const ending = anUpgradingOne({ dueAt: at + 1, ending: { kind: 'missing' } });
    expect(judged(ending, at, { build: targetBuild })).toBe('none');
  });

  it('is news of an adopted one at the target, whose task is not known, and else nothing', () => {
    const adopted = anUpgradingOne({ taskId: null, dueAt: at + 1 });
    expect(judged(adopted, at, { build: targetBuild })).toBe('collectorSeen');
    expect(judged(adopted, at, { lastSeenAlive: at - minutes })).toBe('none');
  });
});

describe('a row of a collector that has to prove its return', () => {
  const at = t + 5 * minutes + 15 * seconds;
  const back = { build: targetBuild, lastSeenAlive: at };

  it('is news only when it is alive, at the target, with a heartbeat newer than the end (P10)', () => {
    expect(judged(aVerifyingOne(), at, back)).toBe('collectorSeen');
    expect(judged(aVerifyingOne(), at, { ...back, alive: false })).toBe('unchanged');
    expect(judged(aVerifyingOne(), at, { ...back, build: '19.506-1' })).toBe('unchanged');
    expect(judged(aVerifyingOne(), at, { ...back, lastSeenAlive: t + 5 * minutes })).toBe('unchanged');
  });

  it('leaves it to a look to tell which heartbeat is new where the service tells no time', () => {
    expect(judged(aVerifyingOne({ endedServiceAt: null }), at, back)).toBe('none');
    const known = aVerifyingOne({ endedServiceAt: null, baselineHeartbeatAt: at - 1 });
    expect(judged(known, at, back)).toBe('collectorSeen');
    expect(judged(known, at, { ...back, lastSeenAlive: at - 1 })).toBe('unchanged');
  });
});

describe('a row of a deferred collector', () => {
  it('is news when it is alive and heard again, but not with the very page after it was refused', () => {
    const deferred = aDeferredOne('notAlive');
    expect(judged(deferred, t + minutes)).toBe('collectorSeen');
    expect(judged(deferred, t + minutes - 1)).toBe('none');
    expect(judged(deferred, t + minutes, { alive: false })).toBe('none');
    expect(judged(deferred, t + minutes, { lastSeenAlive: t + minutes - 46 * seconds })).toBe('none');
  });

  it('tells nothing of one in an upgrade of someone else', () => {
    expect(judged(aDeferredOne('inUpgrade'), t + 5 * minutes)).toBe('none');
  });
});

describe('what rows tell, whatever they show', () => {
  const anyInstant = fc.integer({ min: -200_000, max: 4_000_000 });
  const anyVerifying = fc
    .record({
      verifyBy: anyInstant,
      dueAt: anyInstant,
      endedServiceAt: fc.option(anyInstant),
      baselineHeartbeatAt: fc.option(anyInstant),
    })
    .map((changes) => aVerifyingOne({ ...changes, startedAt: 0 }));
  const anyUpgrading = fc
    .record({
      taskId: fc.constantFrom('77', null),
      startedAt: fc.constant(0),
      polledAt: fc.integer({ min: 0, max: 2_100_000 }),
      deadlineAt: fc.constant(2_100_000),
      dueAt: anyInstant,
      ending: fc.constantFrom(null, { kind: 'missing' } as const),
    })
    .map((changes) => anUpgradingOne(changes));
  const anyOther = fc
    .tuple(fc.constantFrom('notAlive', 'inUpgrade'), anyInstant, fc.constantFrom(...endStates))
    .chain(([condition, instant, state]) =>
      fc.constantFrom<Upgrade>(
        aDeferredOne(condition, instant),
        anUpgrade({ state: 'pending' }),
        anUpgrade({ state: 'queued', dueAt: instant, freshAt: 0, startBy: null }),
        anUpgrade({ state: 'starting', dueAt: instant, sentAt: 0, startBy: null }),
        anUpgrade({ state: 'retrying', dueAt: instant, reason: because('again') }),
        anUpgrade({ state, endedAt: instant, reason: because('over'), weight: 0, lost: false }),
      ),
    );
  const anyUpgrade = fc
    .tuple(fc.oneof(anyVerifying, anyUpgrading, anyOther), fc.constantFrom(0, 0, 0, 2))
    .map(([upgrade, failedPolls]) => ({ ...upgrade, tally: { ...upgrade.tally, failedPolls } }));
  const anyRow = fc.record({
    build: fc.constantFrom(oldBuild, targetBuild, '19.506-1', ''),
    alive: fc.boolean(),
    lastSeenAlive: fc.option(anyInstant),
    serviceAt: fc.option(anyInstant),
  });

  it('ends nothing but a proof, and frees only who was not alive (P10)', () => {
    fc.assert(
      fc.property(anyUpgrade, anyRow, anyInstant, (upgrade, row, at) => {
        const verdict = judgeRow(upgrade, row, { at, periodMs, policy, trustedSince: 0 });
        if (verdict === 'none') return;
        const next = evolve(upgrade, factOf(verdict, row, at), aContext());
        if (upgrade.progress.state !== 'verifying') expect(isEnd(next.progress.state)).toBe(false);
        if (verdict === 'collectorSeen') expect(next.progress.state).not.toBe(upgrade.progress.state);
        else expect(next.progress.state).toBe(upgrade.progress.state);
        if (next.progress.state === 'succeeded') expect([row.build, row.alive]).toEqual([targetBuild, true]);
      }),
    );
  });

  it('touches no counter of the record, and only when its next step is due', () => {
    fc.assert(
      fc.property(
        anyUpgrade,
        anyInstant,
        fc.constantFrom('changeHinted', 'unchanged'),
        (upgrade, at, verdict) => {
          const next = evolve(upgrade, factOf(verdict, aRow(at), at), aContext());
          if (next === upgrade) return;
          const {
            dueAt: _before,
            unchangedAt: _was,
            ...before
          } = { unchangedAt: 0, dueAt: 0, ...upgrade.progress };
          const {
            dueAt: _after,
            unchangedAt: _is,
            ...progress
          } = { unchangedAt: 0, dueAt: 0, ...next.progress };
          expect({ ...next, progress }).toEqual({ ...upgrade, progress: before, rev: upgrade.rev + 1 });
        },
      ),
    );
  });

  it('puts no look off beyond two periods, its rare look, its deadline or the end of its proof', () => {
    fc.assert(
      fc.property(anyUpgrade, anyInstant, (upgrade, at) => {
        const next = evolve(upgrade, factOf('unchanged', aRow(at), at), aContext());
        const [before, after] = [dueAtOf(upgrade), dueAtOf(next)];
        if (next === upgrade || before === undefined || after === undefined) return;
        expect(before).toBeGreaterThan(at);
        expect(after).toBeGreaterThan(before);
        expect(after).toBeLessThanOrEqual(at + 2 * periodMs);
        if (next.progress.state === 'verifying') expect(after).toBeLessThanOrEqual(next.progress.verifyBy);
        if (next.progress.state !== 'upgrading') return;
        expect(after).toBeLessThanOrEqual(nextRareTaskPollAt(next.progress, policy));
        expect(after).toBeLessThanOrEqual(Math.max(before, next.progress.deadlineAt));
      }),
    );
  });
});

describe('a look that a row asks for, or puts off', () => {
  const at = t + 3 * minutes;
  const apply = (upgrade: Upgrade, fact: UpgradeFact) => evolve(upgrade, fact, aContext());
  const unchanged = { kind: 'unchanged', at, until: at + 40 * seconds } as const;
  const changeHinted = { kind: 'changeHinted', at } as const;

  it('is due at once, or only when two pages have not come', () => {
    const running = anUpgradingOne({ dueAt: at + 10 * seconds });
    expect(apply(running, changeHinted)).toMatchObject({
      progress: { state: 'upgrading', dueAt: at, polledAt: t },
    });
    expect(apply(running, unchanged)).toMatchObject({
      progress: { dueAt: at + 40 * seconds, unchangedAt: at, polledAt: t },
    });
    const late = anUpgradingOne({ dueAt: at + 41 * seconds });
    expect(apply(late, unchanged)).toBe(late);
  });

  it('is left alone when it is due', () => {
    const due = anUpgradingOne({ dueAt: at });
    expect(apply(due, changeHinted)).toBe(due);
    expect(apply(due, unchanged)).toBe(due);
    const verifying = aVerifyingOne({ dueAt: at });
    expect(apply(verifying, unchanged)).toBe(verifying);
  });

  it('is left alone when it is one at the collector: its task is over, or is not known', () => {
    for (const changes of [{ ending: { kind: 'deadline' } as const }, { taskId: null }]) {
      const upgrade = anUpgradingOne({ dueAt: at + 1, ...changes });
      expect(apply(upgrade, unchanged)).toBe(upgrade);
    }
    const ending = anUpgradingOne({ dueAt: at + 1, ending: { kind: 'deadline' } });
    expect(apply(ending, changeHinted)).toBe(ending);
  });

  it('is put off no further than its rare look, which comes whatever pages show', () => {
    const nearlyRare = anUpgradingOne({ dueAt: t + 7 * minutes });
    const now = t + 7 * minutes - seconds;
    const next = apply(nearlyRare, { kind: 'unchanged', at: now, until: now + 40 * seconds });
    expect(next).toMatchObject({ progress: { dueAt: t + 7.5 * minutes } });
  });

  it('is put off no further than the end of the proof', () => {
    expect(apply(aVerifyingOne({ dueAt: at + 1, verifyBy: at + 5 }), unchanged)).toMatchObject({
      progress: { dueAt: at + 5 },
    });
  });

  it('comes once right after the service itself gives up, and at the deadline, for watched ones and others', () => {
    const times = { startedAt: t, deadlineAt: t + 35 * minutes };
    const timeoutMs = 30 * minutes + 3 * seconds;
    expect(nextTaskPollAt({ ...times, at: t + 28 * minutes }, policy) - t).toBeCloseTo(timeoutMs);
    expect(nextRareTaskPollAt({ ...times, polledAt: t + 20 * minutes }, policy) - t).toBeCloseTo(timeoutMs);
    expect(nextTaskPollAt({ ...times, at: t + 31 * minutes }, policy) - t).toBe(35 * minutes);
    expect(nextRareTaskPollAt({ ...times, polledAt: t + 31 * minutes }, policy) - t).toBe(35 * minutes);
  });
});

describe('who counts for how often pages are read', () => {
  it('is who has a task whose end a page can show, or has to prove the return', () => {
    expect(isWatched(anUpgradingOne())).toBe(true);
    expect(isWatched(aVerifyingOne())).toBe(true);
    expect(isWatched(anUpgradingOne({ taskId: null }))).toBe(false);
    expect(isWatched(anUpgradingOne({ ending: { kind: 'missing' } }))).toBe(false);
    expect(isWatched(aDeferredOne('notAlive'))).toBe(false);
  });
});

function factOf(verdict: Exclude<RowVerdict, 'none'>, row: Row, at: number): UpgradeFact {
  if (verdict === 'collectorSeen') return { kind: 'collectorSeen', at, ...row, upgradable: null };
  return verdict === 'changeHinted'
    ? { kind: 'changeHinted', at }
    : { kind: 'unchanged', at, until: at + 2 * periodMs };
}
