import type { EpochMs } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import { nightBandText, nightMarkText, nightSpanText } from '../messages/night-texts.ts';

/** A line of the list below the picture. */
export interface NightEntry {
  readonly at: EpochMs;
  readonly text: string;
  /** The colour of its number above the picture; undefined: the picture shows it without a number. */
  readonly tone?: NumberTone;
}

/** The most important first. */
export const numberTones = ['bad', 'late', 'good', 'rest'] as const;
export type NumberTone = (typeof numberTones)[number];

const bandTones = {
  ...{ hold: 'bad', buildHold: 'bad', inventory: 'bad', pause: 'late', approval: 'late' },
  ...{ window: undefined, freeze: undefined },
} as const satisfies Record<RolloutNight['bands'][number]['kind'], NumberTone | undefined>;

const gateTones = { met: 'good', missed: 'bad', hold: 'bad', error: 'late' } as const;

const eventTones: Readonly<Record<string, NumberTone>> = {
  ...{ 'rollout.aborted': 'bad', 'rollout.rollingBack': 'late', 'stratum.held': 'bad' },
  ...{ 'rollout.approved': 'good', 'wave.approved': 'good', 'rollout.resumed': 'good' },
  ...{ 'rollout.retried': 'good' },
  ...{ 'stratum.released': 'good', 'rollout.succeeded': 'good', 'wave.soakSkipped': 'late' },
  ...{ 'rollout.finishedWithFailures': 'bad', 'rollout.rolledBack': 'late' },
};

/** The whole night in sentences, in order. */
export function nightEntries(
  { lanes, bands, marks }: RolloutNight,
  showAt: (at: EpochMs) => string,
): readonly NightEntry[] {
  const entries: readonly NightEntry[] = [
    ...marks.map((mark) => ({
      at: mark.at,
      text: nightMarkText(mark, showAt),
      tone: mark.kind === 'gate' ? gateTones[mark.verdict] : (eventTones[mark.event] ?? 'rest'),
    })),
    ...bands.map((band): NightEntry => {
      const tone = bandTones[band.kind];
      const entry = { at: band.from, text: nightBandText(band, showAt) };
      return tone === undefined ? entry : { ...entry, tone };
    }),
    ...lanes.flatMap(({ wave, spans }) =>
      spans.map((span) => ({ at: span.from, text: nightSpanText(wave, span, showAt) })),
    ),
  ];
  return entries.toSorted((a, b) => a.at - b.at);
}

/** Numbers of entries that would overlap: `3–5`. */
export interface NumberGroup {
  /** The first of its instants. */
  readonly at: EpochMs;
  readonly text: string;
  readonly title: string;
  readonly tone: NumberTone;
  /** The left edge and the width, in pixels. */
  readonly left: number;
  readonly width: number;
}

const [digitPx, edgePx, gapPx] = [7, 11, 2];
const oneDigitPx = digitPx + edgePx;

/** Places the numbers on a line of this width, so that none overlaps another or leaves the line. */
export function groupNumbers(
  entries: readonly NightEntry[],
  x: (at: EpochMs) => number,
  linePx: number,
): readonly NumberGroup[] {
  const placed = (group: Pick<NumberGroup, 'at' | 'text' | 'title' | 'tone'>): NumberGroup => {
    const width = group.text.length * digitPx + edgePx;
    const left = (x(group.at) / 100) * linePx - oneDigitPx / 2;
    return { ...group, width, left: Math.min(Math.max(0, left), linePx - width) };
  };
  const groups: NumberGroup[] = [];
  for (const [index, { at, text: title, tone }] of entries.entries()) {
    if (tone === undefined) continue;
    let group = placed({ at, text: String(index + 1), title, tone });
    // A group at the end of the line grows to the left, over the one before.
    for (let last = groups.at(-1); last !== undefined && isOver(last, group); last = groups.at(-1)) {
      groups.pop();
      group = placed(joined(last, group));
    }
    groups.push(group);
  }
  return groups;
}

function isOver(last: NumberGroup, { left }: NumberGroup): boolean {
  return left < last.left + last.width + gapPx;
}

function joined(first: NumberGroup, second: NumberGroup) {
  const [from] = first.text.split('–');
  const to = second.text.split('–').at(-1);
  return {
    at: first.at,
    text: `${from}–${to}`,
    title: `${first.title} · ${second.title}`,
    tone: numberTones.find((each) => each === first.tone || each === second.tone) ?? first.tone,
  };
}
