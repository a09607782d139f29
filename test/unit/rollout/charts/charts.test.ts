import { expect, it } from 'vitest';
import { gateChart } from '../../../../src/rollout/charts/gate-chart.ts';
import { progressChart } from '../../../../src/rollout/charts/stacked-chart.ts';

const words = String;

it('charts show nothing without time or counts', () => {
  const fleet = { planned: 10, zone: 'UTC', localOf: (at: number) => at };
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
