import { describe, expect, it } from 'vitest';
import { seededChance } from '../../../../src/base/chance.ts';
import { makeTravelSpread } from '../../../../src/redis/api-budget/travel-spread.ts';

const bounds = { minMs: 20, maxMs: 60 };

/** Sends requests that take so long, there and back. */
function spreadAfter(requests: number, tookMs: (number: number) => number): number {
  const travel = makeTravelSpread(bounds);
  for (let number = 0; number < requests; number += 1) {
    travel.left(`${number}`, 1_000 * number);
    travel.ended(`${number}`, 1_000 * number + tookMs(number));
  }
  return travel.spreadMs;
}

describe('how unevenly requests travel (P8)', () => {
  it('is the most before enough requests are known, because the first ones meet cold connections', () => {
    expect(spreadAfter(0, () => 1)).toBe(60);
    expect(spreadAfter(15, () => 1)).toBe(60);
    expect(spreadAfter(16, () => 1)).toBe(20);
  });

  it('is the least on a network without jitter, also beside long lists and a time-out', () => {
    const chance = seededChance(1);
    expect(spreadAfter(200, (number) => (number % 10 === 0 ? 35_000 : 80 + 4 * chance()))).toBe(20);
  });

  it('covers delays of 20 ms, one way or both ways', () => {
    const chance = seededChance(2);
    expect(spreadAfter(64, () => 80 + 20 * chance())).toBeGreaterThan(30);
    expect(spreadAfter(64, () => 80 + 20 * chance() + 20 * chance())).toBeGreaterThan(40);
  });

  it('is at most what a service with uneven answers may cost', () => {
    expect(spreadAfter(64, (number) => 50 * (number % 20))).toBe(60);
  });

  it('follows a network that is calm again', () => {
    const calmAfter = 100;
    const way = (number: number) => (number < calmAfter ? 3 * (number % 20) : 5);
    expect(spreadAfter(calmAfter, way)).toBeGreaterThan(60 - 1);
    expect(spreadAfter(calmAfter + 64, way)).toBe(20);
  });

  it('shows a request that took unusually long, where requests are even', () => {
    const travel = makeTravelSpread(bounds);
    const send = (number: number, tookMs: number) => {
      travel.left(`${number}`, 1_000 * number);
      return travel.ended(`${number}`, 1_000 * number + tookMs);
    };
    expect(send(0, 500)).toBe(0);
    for (let number = 1; number < 20; number += 1) expect(send(number, 80 + (number % 3))).toBe(0);
    expect(send(20, 99)).toBe(0);
    expect(send(21, 190)).toBe(110);
    for (let number = 22; number < 90; number += 1) send(number, 50 * (number % 20));
    expect(send(90, 2_000)).toBe(0);
  });

  it('ignores requests that never left', () => {
    const travel = makeTravelSpread(bounds);
    for (let number = 0; number < 50; number += 1) travel.ended(`${number}`, number);
    expect(travel.spreadMs).toBe(60);
  });
});
