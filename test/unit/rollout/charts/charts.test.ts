import { describe, expect, it } from 'vitest';
import { gateChart } from '../../../../src/rollout/charts/gate-chart.ts';
import { progressChart } from '../../../../src/rollout/charts/stacked-chart.ts';
import { waveLanes, wavesChart } from '../../../../src/rollout/charts/waves-chart.ts';
import { aWaveStatus } from '../../../support/fake-operations.ts';

const words = String;

describe('the lanes of waves', () => {
  const timed = (state: 'soaking' | 'open' | 'passed', passedAt: number | null = null) =>
    aWaveStatus({ name: 'canary', state, openedAt: 100, soakEndsAt: 400, passedAt });
  const tones = (wave: ReturnType<typeof timed>, soaksAt?: ReadonlyMap<string, number>) =>
    waveLanes([wave], { until: 300, words, ...(soaksAt && { soaksAt }) }).flatMap(({ stretches }) =>
      stretches.map(({ tone, from, to }) => [tone, from, to]),
    );

  it.each([
    ['an open wave', timed('open'), undefined, [['busy', 100, 300]]],
    ['a passed wave', timed('passed', 200), undefined, [['good', 100, 200]]],
    [
      'a passed wave with a known soak',
      timed('passed', 200),
      150,
      [
        ['good', 100, 200],
        ['soak', 150, 200],
      ],
    ],
    [
      'a soaking wave',
      timed('soaking'),
      undefined,
      [
        ['soak', 100, 300],
        ['ahead', 300, 400],
      ],
    ],
  ])('show %s', (_name, wave, soaksAt, shown) => {
    expect(tones(wave, soaksAt === undefined ? undefined : new Map([['canary', soaksAt]]))).toEqual(shown);
  });
});

it('waves are drawn only within their axis', () => {
  const at = (from: number, to: number) => ({ tone: 'soak', from, to });
  const lanes = [{ name: 'canary', stretches: [at(50, 80), at(90, 150), at(200, 300)] }];
  const chart = JSON.stringify(wavesChart({ axis: { from: 100, to: 200, words }, lanes }));
  expect(chart.match(/left:[^"]*/g)).toEqual(['left:0%;width:50.0%']);
});

it('charts show nothing without time or counts', () => {
  const fleet = { planned: 10, words };
  const none = { succeeded: 0, failed: 0 };
  expect(progressChart([], fleet)).toBeUndefined();
  expect(
    progressChart(
      [
        { at: 0, ...none },
        { at: 9, ...none },
      ],
      fleet,
    ),
  ).toBeUndefined();
  expect(progressChart([{ at: 0, succeeded: 1, failed: 0 }], fleet)).toBeUndefined();
  expect(
    gateChart({ name: 'a', expect: null, samples: [{ at: 0, value: 1, verdict: 'met' }] }, words),
  ).toBeUndefined();
});
