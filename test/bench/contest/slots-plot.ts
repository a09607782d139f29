import type { DurationMs } from '../../../src/base/time.ts';
import type { Contest, Standing } from './contest.ts';
import { contestantTitles } from './contest-table.ts';

const width = 760;
const height = 280;
const plot = { left: 46, right: 16, top: 34, bottom: 36 } as const;
const binCount = 240;
const colours = { upwave: '#1261a6', plainPool: '#c0504d', fixedBatch: '#7a7a7a' } as const;

// In service minutes: the largest step that gives at least five marks.
const minuteSteps = [1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 960] as const;

/** Upgrades that run at the service over time, one line for each contestant, as an SVG that needs nothing else. */
export function drawSlots(contest: Contest, standings: readonly Standing[]): string {
  const endMs = Math.max(...standings.map(({ figures }) => figures.makespanMs));
  const most = Math.max(contest.slots, 1);
  const x = (atMs: DurationMs) => plot.left + (atMs / endMs) * (width - plot.left - plot.right);
  const y = (slots: number) => height - plot.bottom - (slots / most) * (height - plot.top - plot.bottom);
  const text = (atX: number, atY: number, words: string, more = '') =>
    `<text x="${atX.toFixed(0)}" y="${atY.toFixed(0)}" ${more}>${words}</text>`;
  const lines = standings.map(({ name, tasks }) => {
    const points = meanRunning(tasks, endMs).map(
      (running, bin) => `${x(((bin + 0.5) / binCount) * endMs).toFixed(1)},${y(running).toFixed(1)}`,
    );
    return `<polyline fill="none" stroke="${colours[name]}" stroke-width="1.5" points="${points.join(' ')}"/>`;
  });
  const legend = standings.map(({ name, figures }, index) =>
    text(
      plot.left + index * 180,
      18,
      `${contestantTitles[name]}: ${(figures.makespanMs / 60_000).toFixed(0)} min`,
      `fill="${colours[name]}" font-weight="bold"`,
    ),
  );
  const stepMs = (minuteSteps.findLast((step) => endMs / (step * 60_000) >= 5) ?? minuteSteps[0]) * 60_000;
  const hours = Array.from({ length: Math.floor(endMs / stepMs) + 1 }, (_, index) =>
    text(x(index * stepMs), height - 18, String((index * stepMs) / 60_000), 'text-anchor="middle"'),
  );
  const levels = [0, 0.5, 1].flatMap((share) => [
    `<path d="M${plot.left} ${y(share * most)}H${width - plot.right}" stroke="#ddd"/>`,
    text(plot.left - 6, y(share * most) + 4, String(share * most), 'text-anchor="end"'),
  ]);
  const caption = text(
    width / 2,
    height - 3,
    "upgrades running over the service's minutes",
    'text-anchor="middle"',
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...[...levels, ...hours, caption, ...legend, ...lines],
    '</svg>\n',
  ].join('\n');
}

/** How many tasks ran, as the mean over each bin of time. */
function meanRunning(tasks: Standing['tasks'], endMs: DurationMs): readonly number[] {
  const binMs = endMs / binCount;
  const busyMs = new Array<number>(binCount).fill(0);
  for (const [fromMs, toMs] of tasks) {
    const last = Math.min(binCount - 1, Math.floor(toMs / binMs));
    for (let bin = Math.floor(fromMs / binMs); bin <= last; bin += 1) {
      const inBinMs = Math.min(toMs, (bin + 1) * binMs) - Math.max(fromMs, bin * binMs);
      busyMs[bin] = (busyMs[bin] ?? 0) + inBinMs;
    }
  }
  return busyMs.map((sumMs) => sumMs / binMs);
}
