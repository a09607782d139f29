import { describe, expect, it } from 'vitest';
import { chartStyle } from '../../../../src/rollout/charts/chart-style.ts';
import { gateChart } from '../../../../src/rollout/charts/gate-chart.ts';
import { buildsChart, progressChart } from '../../../../src/rollout/charts/stacked-chart.ts';
import { fromBuildsMax } from '../../../../src/rollout/planning/new-rollout.ts';

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

describe('the chart of builds', () => {
  const builds = ['19.6', '19.5', '19.4', '19.3', '19.2', '19.1', 'other builds'];
  const counts = builds.map(() => 5);
  const chart = buildsChart(
    {
      builds,
      points: [
        { at: 0, counts },
        { at: 9, counts },
      ],
    },
    { planned: 30, zone: 'UTC', localOf: (at: number) => at },
  );
  const layers = JSON.stringify(chart).match(/"tag":"polygon","attributes":\{"class":"([^"]+)"/g) ?? [];
  const tones = layers.map((layer) => /"class":"([^"]+)"/.exec(layer)?.[1] ?? '');

  it('gives each build a tone of its own, also the others together', () => {
    expect(builds).toHaveLength(fromBuildsMax + 2);
    expect(new Set(tones).size).toBe(builds.length);
  });

  it.each([
    ['light', 0],
    ['dark', 1],
  ] as const)('contrasts every tone with every other in %s', (_theme, side) => {
    // A build that no collector runs any more makes neighbours of those around it.
    const lights = [...new Set(tones)].map((tone) => luminance(colorOf(tone, side))).sort((a, b) => a - b);
    for (const [index, light] of lights.entries()) {
      const darker = lights[index - 1];
      if (darker !== undefined) expect((light + 0.05) / (darker + 0.05)).toBeGreaterThanOrEqual(1.4);
    }
  });
});

/** The colour of a tone in the style sheet. @param side 0: light, 1: dark */
function colorOf(tone: string, side: 0 | 1): string {
  const value = new RegExp(`\\.${tone} \\{ --tone: ([^;}]+)`).exec(chartStyle)?.[1] ?? '';
  const name = /var\((--[\w-]+)\)/.exec(value)?.[1];
  const color = name === undefined ? value : (new RegExp(`${name}: ([^;]+)`).exec(chartStyle)?.[1] ?? '');
  return color.match(/#[0-9a-f]{6}/g)?.[side] ?? '';
}

/** As WCAG defines it. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
