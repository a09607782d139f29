import { describe, expect, it } from 'vitest';
import { makeHintCredit } from '../../../../src/orchestrator/watch/hint-credit.ts';
import type { WatchedUpgrade } from '../../../../src/orchestrator/watch/watched-upgrades.ts';
import { anUpgradingOne, aRollout, startedAt } from '../../../support/builders.ts';

const minutes = 60_000;
const t = startedAt + 10 * minutes;

function aTask(collectorId: number, polledAt = startedAt): WatchedUpgrade {
  return { rollout: aRollout(), upgrade: anUpgradingOne({ polledAt }, { collectorId }) };
}

const watched = (tasks: readonly WatchedUpgrade[]) =>
  new Map(tasks.map((task) => [task.upgrade.identity.collectorId, [task]]));

const ids = Array.from({ length: 20 }, (_, index) => index + 1);

describe('hints of upgradable lists', () => {
  it('are followed by ten at first, and by all once these were right', () => {
    const credit = makeHintCredit();
    expect(ids.filter((id) => credit.mayFollow(aTask(id), t))).toHaveLength(10);
    // The tasks have ended.
    credit.judge(watched([]));
    expect(ids.every((id) => credit.mayFollow(aTask(id), t))).toBe(true);
  });

  it('lose their credit when polls show running tasks, but for a probe now and then', () => {
    const credit = makeHintCredit();
    for (const id of ids) credit.mayFollow(aTask(id), t);
    credit.judge(watched(ids.map((id) => aTask(id, t + 1))));
    const followedAt = (at: number, polledAt?: number) =>
      ids.filter((id) => credit.mayFollow(aTask(id, polledAt), at));
    expect(followedAt(t + 2 * minutes)).toEqual([1]);
    expect(followedAt(t + 3 * minutes)).toEqual([]);
    expect(followedAt(t + 4 * minutes, t + 2 * minutes)).toEqual([]);
    expect(followedAt(t + 4 * minutes)).toEqual([1]);
  });

  it('regain it when probes are right', () => {
    const credit = makeHintCredit();
    for (const id of ids) credit.mayFollow(aTask(id), t);
    credit.judge(watched(ids.map((id) => aTask(id, t + 1))));
    for (const probe of [1, 2, 3]) {
      expect(credit.mayFollow(aTask(probe), t + probe * 2 * minutes)).toBe(true);
      credit.judge(watched([]));
    }
    expect(ids.every((id) => credit.mayFollow(aTask(id), t + 9 * minutes))).toBe(true);
  });

  it('let a task without credit that runs three times as long as usual be polled once', () => {
    const credit = makeHintCredit();
    const longAt = startedAt + 15 * minutes;
    expect(credit.isOverdue(aTask(1), longAt)).toBe(false);
    for (const id of ids) credit.mayFollow(aTask(id), t);
    credit.judge(watched(ids.map((id) => aTask(id, t + 1))));
    expect([credit.isOverdue(aTask(1), longAt - 1), credit.isOverdue(aTask(1), longAt)]).toEqual([
      false,
      true,
    ]);
    expect(credit.isOverdue(aTask(1, longAt), longAt + 1)).toBe(false);
  });
});
