import { beforeAll, describe, expect, it } from 'vitest';
import { scenarioOf } from '../../../bench/contest/contest.ts';
import type { VirtualWire } from '../../../support/virtual/virtual-client.ts';
import { playVirtually, type VirtualResult } from '../../../support/virtual/virtual-play.ts';

const usual = scenarioOf({ collectors: 200, durations: { median: '5m', p95: '17m', max: '29m' } });
const scenario = { ...usual, fleet: { ...usual.fleet, seed: 'wires' } };
const play = (wire: VirtualWire) => playVirtually({ scenario, slots: 50, wire });

describe('a service that answers otherwise than the reference service', () => {
  let plain: VirtualResult;
  beforeAll(async () => {
    plain = await play({});
  });

  it.each<[string, VirtualWire]>([
    ['lists collectors with a running task as upgradable', { listsRunning: true }],
    ['has pages of 50', { pageRowsMax: 50 }],
    ['has pages of 20', { pageRowsMax: 20 }],
    ['answers 5% of requests with HTML', { htmlShare: 0.05 }],
    ['shows each success as status 5 (P13)', { endStatus: { status: 5, share: 1 } }],
  ])('%s: an upgrade costs 3.5 requests at most, and half more time', async (_what, wire) => {
    const { state, upgraded, requestsPerUpgrade, tookMs } = await play(wire);
    expect({ state, upgraded }).toEqual({ state: 'succeeded', upgraded: 200 });
    expect(requestsPerUpgrade).toBeLessThanOrEqual(3.5);
    expect(tookMs / plain.tookMs).toBeLessThanOrEqual(1.5);
  });
});
