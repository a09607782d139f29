import { describe, expect, it } from 'vitest';
import { makeSlotSlack, slackMaxMs, starvedFromMs } from '../../../../src/redis/api-budget/slot-slack.ts';

function aSlack() {
  const reported: number[] = [];
  const slack = makeSlotSlack({ lateMaxMs: 20, onStarved: (lateMs) => reported.push(lateMs) });
  return { slack, reported };
}

describe('the slack of a place in the rate', () => {
  it('is zero for a daemon that stalls now and then', () => {
    const { slack, reported } = aSlack();
    for (let stall = 0; stall < 50; stall += 1) {
      slack.missed(700);
      slack.missed(700);
      slack.used(1);
    }
    expect(slack.slackMs).toBe(0);
    expect(reported).toEqual([]);
  });

  it('exceeds the lateness of a daemon that is late repeatedly, up to a bound', () => {
    const { slack } = aSlack();
    for (let turn = 0; turn < 3; turn += 1) slack.missed(100);
    expect(slack.slackMs).toBe(150);
    slack.missed(160);
    expect(slack.slackMs).toBe(240);
    slack.missed(60_000);
    expect(slack.slackMs).toBe(slackMaxMs);
  });

  it('is reported once, and only when it is so late that an operator should know', () => {
    const { slack, reported } = aSlack();
    for (let turn = 0; turn < 9; turn += 1) slack.missed(starvedFromMs - 1);
    expect(reported).toEqual([]);
    slack.missed(starvedFromMs);
    slack.used(starvedFromMs + 50);
    expect(reported).toEqual([starvedFromMs]);
    while (slack.slackMs > 0) slack.used(1);
    for (let turn = 0; turn < 3; turn += 1) slack.missed(starvedFromMs);
    expect(reported).toEqual([starvedFromMs, starvedFromMs]);
  });

  it('stays while it is needed, and goes when it is not', () => {
    const { slack } = aSlack();
    for (let turn = 0; turn < 3; turn += 1) slack.missed(100);
    for (let turn = 0; turn < 50; turn += 1) slack.used(100);
    expect(slack.slackMs).toBe(150);
    for (let turn = 0; turn < 15; turn += 1) slack.used(1);
    expect(slack.slackMs).toBe(0);
  });
});
