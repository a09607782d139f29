import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  isTaskPollDue,
  isWatched,
  verdictOnOffer,
  verdictOnRow,
  verdictOnUnlisted,
} from '../../../../src/rollout/upgrade/evolve.ts';
import { nextRareTaskPollAt, nextTaskPollAt } from '../../../../src/rollout/upgrade/poll-schedule.ts';
import type { RowVerdict } from '../../../../src/rollout/upgrade/state-rules.ts';
import {
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aDeferredOne, afterFacts, aVerifyingOne } from '../../../support/upgrade-cases.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const periodMs = 20 * seconds;
const policy = aPolicy();
const { expectMs } = policy.upgrade;

type Row = Parameters<typeof verdictOnRow>[1];

/** Heard from a moment ago, on its old build. */
function aRow(at: number, changes: Partial<Row> = {}): Row {
  return { build: oldBuild, alive: true, lastSeenAlive: at - 5 * seconds, serviceAt: at, ...changes };
}

function judged(upgrade: Upgrade, at: number, changes: Partial<Row> = {}, of = policy): RowVerdict {
  const context = { at, periodMs, policy: of, trustedSince: 0, isOfferRead: false };
  return verdictOnRow(upgrade, aRow(at, changes), context);
}

describe('an inventory row of a collector whose task is running', () => {
  const at = t + 4 * minutes;
  const running = anUpgradingOne({ dueAt: at + 1 });
  const polledAgo = (ms: number) => anUpgradingOne({ polledAt: at - ms, dueAt: at + 1 });
  const silent = (ms: number, serviceAt = at) => ({ lastSeenAlive: serviceAt - ms, serviceAt });
  const farOff = at + 90 * minutes;
  const dead = { alive: false, lastSeenAlive: null };

  it.each<[string, Upgrade, Partial<Row>, RowVerdict]>([
    ['a change once a heartbeat was missed', running, silent(21 * seconds), 'changeHinted'],
    ['nothing by a clock that is far from ours', running, silent(5 * seconds, farOff), 'unchanged'],
    ['a change by a clock that is far from ours', running, silent(30 * seconds, farOff), 'changeHinted'],
    ['nothing right after a poll', polledAgo(17 * seconds), silent(40 * seconds), 'unchanged'],
    ['a change with each page of a restart', polledAgo(18 * seconds), silent(60 * seconds), 'changeHinted'],
    ['nothing between polls of a long silence', polledAgo(59 * seconds), silent(200 * seconds), 'unchanged'],
    ['a change now and then of a silent one', polledAgo(60 * seconds), silent(200 * seconds), 'changeHinted'],
    ['a change now and then of a dead one', polledAgo(72 * seconds), dead, 'changeHinted'],
  ])('hints at %s', (_what, upgrade, row, verdict) => {
    expect(judged(upgrade, at, row)).toBe(verdict);
  });

  it('leaves a restart to the upgradable list when that is read, and polls after a longer silence', () => {
    const context = { at, periodMs, policy, trustedSince: 0, isOfferRead: true };
    const isHinted = (ms: number) => verdictOnRow(running, aRow(at, silent(ms)), context);
    expect(isHinted(89 * seconds)).toBe('unchanged');
    expect(isHinted(90 * seconds)).toBe('changeHinted');
    expect(verdictOnRow(running, aRow(at, { build: targetBuild }), context)).toBe('changeHinted');
    // A restart takes as long by the service's clock where that runs 20 times as fast as ours.
    const hurried = aPolicy({ upgrade: { ...policy.upgrade, expectMs: expectMs / 20 } });
    expect(verdictOnRow(running, aRow(at, silent(60 * seconds)), { ...context, policy: hurried })).toBe(
      'unchanged',
    );
  });

  it('hints in half the time where an upgrade takes half as long', () => {
    const hurried = aPolicy({ upgrade: { ...policy.upgrade, expectMs: expectMs / 2 } });
    expect(judged(polledAgo(30 * seconds), at, silent(200 * seconds), hurried)).toBe('changeHinted');
  });

  it('hints more often for a collector that shows the target, in proportion to the age of its task', () => {
    const late = t + 20 * minutes;
    const polled = anUpgradingOne({ polledAt: late, dueAt: t + 30 * minutes });
    expect(judged(polled, late + 59 * seconds, { build: targetBuild })).toBe('unchanged');
    expect(judged(polled, late + 60 * seconds, { build: targetBuild })).toBe('changeHinted');
  });

  it.each([
    ['is due', anUpgradingOne({ dueAt: at })],
    ['is being repeated', anUpgradingOne({ dueAt: at + 1 }, { failedPolls: 1 })],
    ['is one of the collector itself', anUpgradingOne({ dueAt: at + 1, ending: { kind: 'deadline' } })],
  ])('has no effect when its poll %s', (_why, upgrade) => {
    expect(judged(upgrade, at, { build: targetBuild })).toBe('none');
  });

  it('counts as an observation for an adopted upgrade at the target, and has no effect otherwise', () => {
    const adopted = anUpgradingOne({ taskId: null, dueAt: at + 1 });
    expect(judged(adopted, at, { build: targetBuild })).toBe('collectorSeen');
    expect(judged(adopted, at, { lastSeenAlive: at - minutes })).toBe('none');
  });
});

describe('an upgrade whose collector the service would upgrade again', () => {
  const at = t + 4 * minutes;
  const offered = (upgrade: Upgrade, of = at, row: Partial<Row> = {}) =>
    verdictOnOffer(upgrade, aRow(of, row), {
      ...{ at: of, periodMs: 10 * seconds, policy, trustedSince: 0, isOfferRead: true },
    });

  it('is polled at once: its task is over', () => {
    expect(offered(anUpgradingOne({ dueAt: at + 1 }))).toBe('changeHinted');
  });

  it('is polled less and less often while its task keeps running', () => {
    const late = t + 20 * minutes;
    const polled = anUpgradingOne({ polledAt: late, dueAt: t + 30 * minutes });
    expect(offered(polled, late + 59 * seconds)).toBe('none');
    expect(offered(polled, late + 60 * seconds)).toBe('changeHinted');
  });

  it.each<[string, Upgrade]>([
    [
      'its create was answered after the list was made',
      anUpgradingOne({ polledAt: at - 5 * seconds, dueAt: at + 1 }),
    ],
    ['its poll is due', anUpgradingOne({ dueAt: at })],
    ['its poll is being repeated', anUpgradingOne({ dueAt: at + 1 }, { failedPolls: 1 })],
    ['its end is known', anUpgradingOne({ dueAt: at + 1, ending: { kind: 'deadline' } })],
    ['its task is unknown', anUpgradingOne({ dueAt: at + 1, taskId: null })],
    ['it has not started', anUpgrade({ state: 'pending' })],
  ])('is unchanged when %s', (_why, upgrade) => {
    expect(offered(upgrade)).toBe('none');
  });

  it('is polled as often when no list is read, while its task is running', () => {
    const isDue = (upgrade: Upgrade) => isTaskPollDue(upgrade, { at, periodMs: 20 * seconds });
    expect(isDue(anUpgradingOne({ polledAt: at - 18 * seconds, dueAt: at + 1 }))).toBe(true);
    expect(isDue(anUpgradingOne({ polledAt: at - 17 * seconds, dueAt: at + 1 }))).toBe(false);
    expect(isDue(anUpgradingOne({ dueAt: at }))).toBe(false);
    expect(isDue(anUpgradingOne({ dueAt: at + 1, taskId: null }))).toBe(false);
    expect(isDue(aVerifyingOne({ dueAt: at + 1 }))).toBe(false);
  });

  it('is judged by the row in every other state', () => {
    const back = { build: targetBuild, lastSeenAlive: at };
    expect(offered(aVerifyingOne({ dueAt: at + 1 }), at, back)).toBe('collectorSeen');
    expect(offered(anUpgradingOne({ dueAt: at + 1, taskId: null }), at, back)).toBe('collectorSeen');
  });

  it('has its poll postponed while the control list lacks it, but only right before the poll', () => {
    const unlisted = (upgrade: Upgrade) => verdictOnUnlisted(upgrade, { at, periodMs: 10 * seconds });
    expect(unlisted(anUpgradingOne({ dueAt: at + 29 * seconds }))).toBe('unchanged');
    expect(unlisted(anUpgradingOne({ dueAt: at + 30 * seconds }))).toBe('none');
    expect(unlisted(anUpgradingOne({ dueAt: at }))).toBe('none');
    expect(unlisted(anUpgradingOne({ dueAt: at + 1, taskId: null }))).toBe('none');
    expect(unlisted(aVerifyingOne({ dueAt: at + 1 }))).toBe('none');
  });
});

describe('an inventory row of a collector that is being verified', () => {
  const at = t + 15 * seconds;
  const back = { build: targetBuild, lastSeenAlive: at };
  const verifying = aVerifyingOne({ dueAt: at + 5 * seconds });
  const timeless = (baselineHeartbeatAt: number | null) =>
    aVerifyingOne({ endedServiceAt: null, dueAt: at + 5 * seconds, baselineHeartbeatAt });

  it.each<[string, Upgrade, Partial<Row>, RowVerdict]>([
    ['verifies it', verifying, {}, 'collectorSeen'],
    ['does not verify it when it is not alive', verifying, { alive: false }, 'unchanged'],
    ['does not verify it on another build', verifying, { build: '19.506-1' }, 'unchanged'],
    ['does not verify it with a heartbeat from before the end', verifying, { lastSeenAlive: t }, 'unchanged'],
    ['leaves it to a poll when the service sends no time', timeless(null), {}, 'none'],
    ['does not verify it with a known heartbeat', timeless(at), {}, 'unchanged'],
  ])('%s (P10)', (_what, upgrade, row, verdict) => {
    expect(judged(upgrade, at, { ...back, ...row })).toBe(verdict);
  });
});

describe('an inventory row of a deferred collector', () => {
  const deferred = aDeferredOne({ dueAt: t + 30 * minutes });

  it('counts when it is alive with a new heartbeat, but not within a minute of the refusal', () => {
    expect(judged(deferred, t + minutes)).toBe('collectorSeen');
    expect(judged(deferred, t + minutes - 1)).toBe('none');
    expect(judged(deferred, t + minutes, { alive: false })).toBe('none');
    expect(judged(deferred, t + minutes, { lastSeenAlive: t + minutes - 46 * seconds })).toBe('none');
  });

  it('counts as late again as it has waited before, so that a refusal that rows do not show is met ever more seldom', () => {
    const waitedMs = 10 * minutes;
    const again = aDeferredOne({ since: t - waitedMs, dueAt: t + 30 * minutes }, { deferredMs: waitedMs });
    expect(judged(again, t + minutes)).toBe('none');
    expect(judged(again, t + waitedMs - 1)).toBe('none');
    expect(judged(again, t + waitedMs)).toBe('collectorSeen');
  });

  it('has no effect during an upgrade by someone else', () => {
    const elsewhere = aDeferredOne({ condition: 'inUpgrade', dueAt: t + 30 * minutes });
    expect(judged(elsewhere, t + 5 * minutes)).toBe('none');
  });
});

describe('a poll that a row makes due, or postpones', () => {
  const at = t + 3 * minutes;
  const unchanged = { kind: 'unchanged', at, until: at + 40 * seconds } as const;
  const changeHinted = { kind: 'changeHinted', at } as const;

  it('is due at once, or only when two pages were not read', () => {
    const running = anUpgradingOne({ dueAt: at + 10 * seconds });
    expect(afterFacts(running, changeHinted)).toMatchObject({
      progress: { state: 'upgrading', dueAt: at, polledAt: t },
    });
    expect(afterFacts(running, unchanged)).toMatchObject({
      progress: { dueAt: at + 40 * seconds, unchangedAt: at, polledAt: t },
    });
    const late = anUpgradingOne({ dueAt: at + 41 * seconds });
    expect(afterFacts(late, unchanged)).toBe(late);
  });

  it('is never postponed beyond its rare poll or the verify deadline, and changes no counter', () => {
    const running = anUpgradingOne({ dueAt: at + 1 }, { failedPolls: 2 });
    const wholeDay = { ...unchanged, until: at + 24 * 60 * minutes };
    const { progress, tally } = afterFacts(running, wholeDay);
    const rareAt = nextRareTaskPollAt({ startedAt: t, deadlineAt: t + 35 * minutes, polledAt: t }, policy);
    expect(progress).toMatchObject({ dueAt: rareAt });
    expect([tally, afterFacts(running, changeHinted).tally]).toEqual([running.tally, running.tally]);
    const verifying = aVerifyingOne({ dueAt: at + 1 });
    expect(afterFacts(verifying, wholeDay).progress).toMatchObject({ dueAt: t + 10 * minutes });
  });

  it('is left to the next list only once before it, whatever rows come in between (P11)', () => {
    const waiting = { dueAt: at + 1, freshAt: t, heartbeatAfter: t, startBy: null };
    const awaited = { ...unchanged, isAwaited: true } as const;
    const once = afterFacts(anUpgrade({ state: 'queued', ...waiting }), awaited, unchanged);
    expect(once.progress).toMatchObject({ dueAt: at + 40 * seconds });
    const later = at + 2 * minutes;
    const row = { ...unchanged, until: later } as const;
    const heard = afterFacts(once, row);
    expect(afterFacts(heard, { ...awaited, until: later + minutes })).toBe(heard);
  });

  it('of one that returns is left to the next list only once, until a list shows it (P10)', () => {
    const awaited = { ...unchanged, isAwaited: true } as const;
    const later = { at: at + seconds, until: at + 2 * minutes };
    const once = afterFacts(aVerifyingOne({ dueAt: at + 1 }), awaited);
    expect(once.progress).toMatchObject({ dueAt: at + 40 * seconds });
    expect(afterFacts(once, { ...awaited, ...later })).toBe(once);
    const shown = afterFacts(once, { ...unchanged, until: at + minutes }, { ...awaited, ...later });
    expect(shown.progress).toMatchObject({ dueAt: later.until });
  });

  const ending = anUpgradingOne({ dueAt: at + 1, ending: { kind: 'deadline' } });
  it.each([
    ['it is due', anUpgradingOne({ dueAt: at }), [changeHinted, unchanged]],
    ['it is due, of one that verifies', aVerifyingOne({ dueAt: at }), [unchanged]],
    ['it is one of the collector, whose task is over', ending, [changeHinted, unchanged]],
    ['its task is unknown', anUpgradingOne({ dueAt: at + 1, taskId: null }), [unchanged]],
  ] as const)('is unchanged when %s', (_why, upgrade, facts) => {
    for (const fact of facts) expect(afterFacts(upgrade, fact)).toBe(upgrade);
  });

  it('is due once right after the timeout of the service, and at the deadline, for watched upgrades and others', () => {
    const times = { startedAt: t, deadlineAt: t + 35 * minutes };
    const timeoutMs = 30 * minutes + 3 * seconds;
    expect(nextTaskPollAt({ ...times, at: t + 28 * minutes }, policy) - t).toBeCloseTo(timeoutMs);
    expect(nextRareTaskPollAt({ ...times, polledAt: t + 20 * minutes }, policy) - t).toBeCloseTo(timeoutMs);
    expect(nextTaskPollAt({ ...times, at: t + 31 * minutes }, policy) - t).toBe(35 * minutes);
    expect(nextRareTaskPollAt({ ...times, polledAt: t + 31 * minutes }, policy) - t).toBe(35 * minutes);
  });
});

describe('the upgrades that are watched by inventory pages', () => {
  it('are those whose end a page can show, or which are being verified', () => {
    expect(isWatched(anUpgradingOne())).toBe(true);
    expect(isWatched(aVerifyingOne())).toBe(true);
    expect(isWatched(anUpgradingOne({ taskId: null }))).toBe(false);
    expect(isWatched(anUpgradingOne({ ending: { kind: 'missing' } }))).toBe(true);
    expect(isWatched(anUpgradingOne({ ending: { kind: 'deadline' } }))).toBe(false);
    expect(isWatched(aDeferredOne())).toBe(false);
  });
});
