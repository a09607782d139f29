import { describe, expect, it } from 'vitest';
import type { RolloutNight } from '../../../../src/contract/admin/night.ts';
import type { ChartElement } from '../../../../src/rollout/charts/chart-element.ts';
import { chartStyle } from '../../../../src/rollout/charts/chart-style.ts';
import { nightChart } from '../../../../src/rollout/charts/night-chart.ts';
import { groupNumbers, nightEntries } from '../../../../src/rollout/charts/night-entries.ts';
import { instantOn, roundTicks } from '../../../../src/rollout/charts/time-axis.ts';
import { startedAt } from '../../../support/builders.ts';
import { aNight } from '../../../support/status-parts.ts';

const minute = 60_000;
const hour = 60 * minute;
const at = (minutes: number) => startedAt + minutes * minute;
const zone = { zone: 'UTC', localOf: (of: number) => of };
const showAt = (instant: number) => `+${(instant - startedAt) / minute}`;

const canary = {
  ...({ wave: 'canary', state: 'passed' } as const),
  spans: [
    { kind: 'upgrade', from: at(0), to: at(10), dueAt: null },
    { kind: 'soak', from: at(10), to: at(20), dueAt: at(20) },
  ],
} satisfies RolloutNight['lanes'][number];
const rest = {
  ...({ wave: 'rest', state: 'open' } as const),
  spans: [{ kind: 'upgrade', from: at(20), to: null, dueAt: null }],
} satisfies RolloutNight['lanes'][number];
const soakUntil = (minutes: number) =>
  ({ kind: 'soak', from: at(10), to: null, dueAt: at(minutes) }) as const;
const hold = { kind: 'hold', from: at(24), to: at(26), reason: 'too many', by: 'daemon' } as const;
const resumed = {
  ...({ kind: 'event', at: at(26), event: 'rollout.resumed', wave: null } as const),
  ...{ reason: 'known', by: 'alice' },
};
const missed = {
  ...({ kind: 'gate', at: at(15), wave: 'canary', gate: 'errors', verdict: 'missed' } as const),
  ...{ value: 0.93, expect: { operator: '>=', value: 0.99 } as const },
};
const night = aNight({ lanes: [canary, rest], bands: [hold], marks: [missed, resumed] });

const draw = (changes: Partial<RolloutNight> = {}, parts: Partial<Parameters<typeof nightChart>[1]> = {}) =>
  nightChart(
    { ...night, ...changes },
    { ...zone, now: at(30), nowText: 'now', eta: null, list: 'folded', ...parts },
  );

const all = (element: ChartElement | undefined): readonly ChartElement[] =>
  element === undefined
    ? []
    : [element, ...element.children.flatMap((child) => (typeof child === 'string' ? [] : all(child)))];
const classesOf = (chart: ChartElement | undefined, tag: string) =>
  all(chart)
    .filter((each) => each.tag === tag)
    .map(({ attributes }) => attributes['class']);
const textOf = ({ children }: ChartElement): string =>
  children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');

describe('the picture of a rollout', () => {
  it('is not drawn before there is anything to show', () => {
    expect(draw({ lanes: [{ wave: 'canary', state: 'waiting', spans: [] }], bands: [] })).toBeUndefined();
  });

  it('has a bar for each span, a band for each hold, and the present', () => {
    const chart = draw();
    expect(classesOf(chart, 'rect').filter((name) => /^(stretch|band)/.test(String(name)))).toEqual([
      ...['band hold', 'stretch good', 'stretch soak', 'stretch busy'],
    ]);
    expect(classesOf(chart, 'line')).toContain('present');
    expect(classesOf(draw({ to: at(30) }), 'line')).not.toContain('present');
  });

  it('has a dashed bar for what is expected of a wave, and for the rest of a soak', () => {
    const late = { wave: 'late', state: 'waiting', spans: [] } as const;
    const soaking = { wave: 'early', state: 'soaking', spans: [soakUntil(40)] } as const;
    const expected = { from: at(20), to: at(35) };
    const waves = [
      { name: 'early', expected: null },
      { name: 'rest', expected },
      { name: 'late', expected: { from: at(35), to: at(50) } },
    ];
    const open = draw({ lanes: [soaking, rest, late], bands: [], marks: [] }, { waves });
    const texts = all(open).filter(({ tag }) => tag === 'li');
    expect(texts.map(textOf).slice(2)).toEqual([
      '21:30 to 21:40: wave early, expected',
      '21:30 to 21:35: wave rest, expected',
      '21:35 to 21:50: wave late, expected',
    ]);
    expect(classesOf(open, 'rect').filter((name) => name === 'stretch ahead')).toHaveLength(3);
    const ended = draw({ lanes: [rest], to: at(30) }, { waves });
    expect(classesOf(ended, 'rect')).not.toContain('stretch ahead');
  });

  it('tells the same in order below, with reasons, who acted, and values beside limits', () => {
    const items = all(draw()).filter(({ tag }) => tag === 'li');
    expect(items.map(textOf)).toEqual([
      '21:00 to 21:10: wave canary is upgraded',
      '21:10 to 21:20: wave canary soaks',
      '21:15: wave canary: errors 0.93, limit >= 0.99: missed',
      'Since 21:20: wave rest is upgraded',
      '21:24 to 21:26: held: too many',
      '21:26: resumed by alice: known',
    ]);
  });

  it('names what an operator retried, and the abort of its rollback', () => {
    const act = { kind: 'event', wave: null, by: 'bob', reason: 'INC-1' } as const;
    const entries = nightEntries(
      aNight({
        marks: [
          { ...act, at: at(3), event: 'rollout.retried', subject: '1 of 3 failures ("disk full")' },
          { ...act, at: at(5), event: 'rollout.aborted', subject: 'production-20260302-2' },
        ],
      }),
      showAt,
    );
    expect(entries.map(({ text, tone }) => [text, tone])).toEqual([
      ['+3: 1 of 3 failures ("disk full") retried by bob: INC-1', 'good'],
      ['+5: rollback aborted by bob: INC-1', 'bad'],
    ]);
  });

  it('numbers what happened as the list does, and groups numbers without room', () => {
    const shown = (linePx: number) =>
      groupNumbers(nightEntries(night, showAt), (of) => ((of - startedAt) / (30 * minute)) * 100, linePx);
    expect(shown(900).map(({ text, tone }) => [text, tone])).toEqual([
      ['3', 'bad'],
      ['5', 'bad'],
      ['6', 'good'],
    ]);
    expect(shown(200).map(({ text, tone }) => [text, tone])).toEqual([
      ['3', 'bad'],
      ['5–6', 'bad'],
    ]);
    for (const width of [60, 90, 200, 300, 900]) {
      const groups = shown(width);
      for (const [index, { left }] of groups.entries()) {
        const before = groups[index - 1];
        expect(left).toBeGreaterThanOrEqual(before === undefined ? 0 : before.left + before.width);
        expect(left + (groups[index]?.width ?? 0)).toBeLessThanOrEqual(width);
      }
    }
  });

  it('keeps many numbers apart, also at both ends of the line', () => {
    const entries = Array.from({ length: 120 }, (_, n) => ({
      at: n < 90 ? n : 100,
      text: '',
      tone: 'rest' as const,
    }));
    for (const linePx of [90, 200, 290, 540]) {
      const groups = groupNumbers(entries, (of) => 2 + of * 0.96, linePx);
      expect(groups.at(-1)?.text).toMatch(/(^|–)120$/);
      const edges = groups.flatMap(({ left, width }) => [left, left + width]);
      expect(edges).toEqual(edges.toSorted((a, b) => a - b));
      expect([Math.min(...edges) >= 0, Math.max(...edges) <= linePx]).toEqual([true, true]);
    }
  });

  it('draws the rest of a running soak, and the expected end', () => {
    const soaking = {
      ...rest,
      state: 'soaking',
      spans: [{ kind: 'soak', from: at(20), to: null, dueAt: at(50) }],
    } as const;
    expect(classesOf(draw({ lanes: [soaking] }), 'rect')).toContain('stretch ahead');
    expect(classesOf(draw({ lanes: [soaking] }, { now: at(55) }), 'rect')).not.toContain('stretch ahead');
    const eta = { kind: 'at', at: at(80), plusMinusMs: minute, requests: 5 } as const;
    const shown = all(draw({}, { eta })).filter(({ tag }) => tag === 'title' || tag === 'li');
    const ends = shown.filter((each) => textOf(each) === 'Expected end: about 22:20 (±1m), 5 requests');
    expect(ends.map(({ tag }) => tag)).toEqual(['title', 'li']);
  });

  it('expects no end in the past, however wide its range is', () => {
    const eta = { kind: 'at', at: at(38), plusMinusMs: 30 * minute, requests: 5 } as const;
    const parts = all(draw({}, { eta, now: at(36) }));
    const xOf = (name: string, key: string) =>
      Number(
        String(parts.find(({ attributes }) => attributes['class'] === name)?.attributes[key]).replace(
          '%',
          '',
        ),
      );
    expect(xOf('eta', 'x')).toBeCloseTo(xOf('present', 'x1'), 1);
  });

  it('ends what lasts at the present, except windows and freezes', () => {
    const lasting = (['approval', 'hold', 'freeze'] as const).map((kind) => ({ ...hold, kind, to: null }));
    const eta = { kind: 'at', at: at(90), plusMinusMs: 0, requests: 5 } as const;
    const chart = draw({ bands: lasting }, { eta });
    const percent = (value: unknown) => Number(String(value).replace('%', ''));
    const present = all(chart).find(({ attributes }) => attributes['class'] === 'present');
    const isBeyond = (kind: string) => {
      const band = all(chart).find(({ attributes }) => attributes['class'] === `band ${kind}`)?.attributes;
      return percent(band?.['x']) + percent(band?.['width']) > percent(present?.attributes['x1']) + 0.1;
    };
    expect(['approval', 'hold', 'freeze'].filter(isBeyond)).toEqual(['freeze']);
  });

  it('leaves out a freeze that begins after its end', () => {
    const freeze = { kind: 'freeze', from: at(300), to: at(600), reason: 'audit', by: '' } as const;
    expect(classesOf(draw({ bands: [freeze] }), 'rect')).not.toContain('band freeze');
    expect(JSON.stringify(draw({ bands: [freeze] }))).not.toContain('audit');
  });

  const approved = {
    ...({ kind: 'event', at: at(0), event: 'rollout.approved', wave: null } as const),
    ...{ reason: '', by: 'alice' },
  };
  const waitedFrom = (minutes: number): Partial<RolloutNight> => ({
    from: at(minutes),
    bands: [{ kind: 'approval', from: at(minutes), to: at(0), reason: '', by: 'daemon' }],
    marks: [approved],
  });
  const axisOf = (chart: ChartElement | undefined) =>
    String(all(chart).find(({ tag }) => tag === 'svg')?.attributes['aria-label']).split(' (')[0];

  it('cuts off a long wait for an approval, and says its begin, its length and who ended it', () => {
    const long = draw(waitedFrom(-312), { now: at(30) });
    expect(axisOf(long)).toBe('Waves from 20:56 to 21:31');
    expect(classesOf(long, 'line')).toContain('cut');
    const words = all(long)
      .filter(({ tag }) => tag === 'p')
      .map(textOf);
    expect(words[0]).toBe('15:48 to 21:00: waited 5h12m for an approval by alice');
    expect(textOf(long as ChartElement)).toContain('15:48 to 21:00: the plan waits for approval');
    const short = draw(waitedFrom(-5), { now: at(30) });
    expect(axisOf(short)).toBe('Waves from 20:55 to 21:31');
    expect(classesOf(short, 'line')).not.toContain('cut');
  });

  it('cuts off a wait that lasts, before what is expected', () => {
    const waits = {
      from: at(-312),
      bands: [{ ...hold, kind: 'approval', from: at(-312), to: null }],
    } as const;
    const lane = { wave: 'canary', state: 'waiting', spans: [] } as const;
    const eta = {
      kind: 'afterApproval',
      approvalAt: null,
      durationMs: hour,
      plusMinusMs: 0,
      requests: 5,
    } as const;
    const chart = draw({ ...waits, lanes: [lane], marks: [] }, { now: at(0), eta });
    expect(textOf(chart as ChartElement)).toContain('Since 15:48: has waited 5h12m for an approval');
    expect(axisOf(chart)).toBe('Waves from 20:54 to 22:02');
    const unknown = draw({ ...waits, lanes: [lane], marks: [] }, { now: at(0) });
    expect(axisOf(unknown)).toBe('Waves from 15:48 to 21:12');
  });

  const noteOf = (chart: ChartElement | undefined) =>
    all(chart)
      .filter(({ tag, attributes }) => tag === 'p' && attributes['class'] === 'quiet small')
      .map(textOf);
  const freezeTo = (minutes: number | null) =>
    ({ ...hold, kind: 'freeze', from: at(28), to: minutes === null ? null : at(minutes), by: '' }) as const;
  const endAt = (minutes: number) =>
    ({ kind: 'at', at: at(minutes), plusMinusMs: minute, requests: 5 }) as const;

  it('cuts off a long wait ahead, and names it and the expected end', () => {
    const waves = [{ name: 'rest', expected: { from: at(1050), to: at(1060) } }];
    const parts = { eta: endAt(1060), waves };
    const long = draw({ bands: [hold, freezeTo(1050)] }, parts);
    expect(axisOf(long)).toBe('Waves from 21:00 to 21:37');
    expect(noteOf(long)).toEqual([
      'Cut off at 21:37: freeze: too many, until Mar 3 14:30. Expected end: about Mar 3 14:40 (±1m), 5 requests',
    ]);
    expect(classesOf(long, 'line')).toContain('cut');
    expect(classesOf(long, 'rect')).toEqual(expect.arrayContaining(['band freeze', 'stretch busy']));
    for (const beyond of ['stretch ahead', 'eta']) expect(classesOf(long, 'rect')).not.toContain(beyond);
    const swatches = classesOf(long, 'i').map((name) => String(name).split(' ').at(-1));
    expect(swatches).not.toEqual(expect.arrayContaining(['ahead']));
    expect(swatches).not.toContain('eta');
    expect(textOf(long as ChartElement)).toContain('Mar 3 14:30 to Mar 3 14:40: wave rest, expected');
  });

  it('cuts off a window that closes soon, and the waits before and after it', () => {
    const closed = { ...freezeTo(1050), kind: 'window', reason: '', from: at(35) } as const;
    const chart = draw({ ...waitedFrom(-312), bands: [closed] }, { eta: endAt(1060) });
    expect(axisOf(chart)).toBe('Waves from 20:56 to 21:43');
    expect(noteOf(chart)).toEqual([
      '15:48 to 21:00: waited 5h12m for an approval by alice',
      expect.stringContaining('Cut off at 21:43: no window is open, until Mar 3 14:30. Expected end'),
    ]);
    expect(classesOf(chart, 'line').filter((name) => name === 'cut')).toHaveLength(2);
  });

  it.each<[string, Partial<RolloutNight>, Parameters<typeof endAt>[0]]>([
    ['that is short', { bands: [freezeTo(120)] }, 180],
    ['before anything has begun', { lanes: [{ ...rest, spans: [] }], bands: [freezeTo(1050)] }, 1060],
    ['of an ended rollout', { to: at(30), bands: [freezeTo(1050)] }, 1060],
    [
      'for a soak, where the rest of the plan lasts longer',
      { lanes: [{ ...rest, spans: [soakUntil(150)] }] },
      400,
    ],
  ])('does not cut off a wait ahead %s', (_what, changes, end) => {
    const chart = draw(changes, { eta: endAt(end) });
    expect(classesOf(chart, 'line')).not.toContain('cut');
    expect(noteOf(chart)).toEqual([]);
  });

  it.each([
    [null, 'Waves from 21:00 to 21:37', '21:37'],
    [at(40), 'Waves from 21:00 to 21:50', '21:50'],
  ])('cuts off a long wait for deferred collectors, after %s', (othersAt, axis, cutAt) => {
    const chart = draw({ bands: [] }, { eta: { kind: 'atTheLatest', at: at(2880), othersAt } });
    expect(axisOf(chart)).toBe(axis);
    const words = `Cut off at ${cutAt}: only deferred collectors remain, until Mar 4 21:00. Expected end: `;
    expect(noteOf(chart)[0]?.startsWith(words)).toBe(true);
  });

  it('cuts off a long soak, the last of the plan', () => {
    const spans = [...canary.spans.slice(0, 1), soakUntil(1440)];
    const chart = draw({ lanes: [{ ...rest, spans }] }, { eta: endAt(1450) });
    expect(axisOf(chart)).toBe('Waves from 21:00 to 21:37');
    expect(noteOf(chart)[0]).toMatch(/^Cut off at 21:37: wave rest soaks, until Mar 3 21:00\. /);
    expect(classesOf(chart, 'rect')).toContain('stretch ahead');
  });

  it('has a swatch as drawn for each entry of its legend', () => {
    const kinds = ['hold', 'buildHold', 'pause', 'approval', 'inventory', 'window', 'freeze'] as const;
    const bands = kinds.map((kind) => ({ ...hold, kind }));
    const waves = [{ name: 'rest', expected: { from: at(30), to: at(40) } }];
    const swatches = classesOf(draw({ bands }, { waves }), 'i').map((name) => String(name).split(' ').at(-1));
    expect(swatches).toEqual(expect.arrayContaining([...kinds, 'present', 'ahead']));
    const tones = ['good', 'busy', 'rest'];
    for (const name of swatches.filter((each) => !tones.includes(each ?? '')))
      expect(chartStyle).toContain(`.swatch.${name}`);
    const drawn = kinds.map((kind) => /fill: ([^ ]*)/.exec(chartStyle.split(`.band.${kind} `)[1] ?? '')?.[1]);
    expect(new Set(drawn).size).toBe(kinds.length);
  });

  it('has one entry for approvals, of the plan and of a wave', () => {
    const plan = { kind: 'approval', from: at(0), to: at(5), reason: '', by: 'daemon' } as const;
    const wave = {
      ...({ wave: 'rest', state: 'awaitingApproval' } as const),
      spans: [{ kind: 'approval', from: at(20), to: null, dueAt: null }],
    } satisfies RolloutNight['lanes'][number];
    const entriesOf = (changes: Partial<RolloutNight>) =>
      all(draw(changes))
        .filter(({ tag }) => tag === 'span')
        .map((entry) => textOf(entry).trim())
        .filter((name) => name.includes('approval'));
    expect(entriesOf({ lanes: [canary, wave], bands: [plan] })).toEqual(['waits for approval']);
    expect(entriesOf({ bands: [plan] })).toEqual(['waits for approval']);
    expect(entriesOf({ lanes: [canary, wave], bands: [] })).toEqual(['waits for approval']);
  });

  it('draws the hold of a build in squares, unlike the stripes of another hold', () => {
    const lineOf = (kind: string) =>
      all(draw()).find(({ attributes }) => attributes['id'] === `night-${kind}`)?.children[1];
    expect(lineOf('buildHold')).toMatchObject({ attributes: { 'stroke-dasharray': 4 } });
    expect(lineOf('hold')).not.toMatchObject({ attributes: { 'stroke-dasharray': 4 } });
  });

  it('shows a wave that did not pass as ended, once the rollout has ended', () => {
    expect(classesOf(draw({ to: at(28) }), 'rect')).toContain('stretch rest');
  });
});

describe('an instant of a time axis', () => {
  const shown = (lengthMs: number, instant: number) =>
    instantOn({ ...zone, from: startedAt, to: startedAt + lengthMs })(instant);

  it('has seconds on a short axis, and the day where that is another one', () => {
    expect(shown(10 * minute, at(5))).toBe('21:05:00');
    expect(shown(10 * minute, at(600))).toBe('Mar 3 07:00');
    expect(shown(2 * hour, at(5))).toBe('21:05');
    expect(shown(2 * hour, at(600))).toBe('Mar 3 07:00');
    expect(shown(5 * hour, at(5))).toBe('Mar 2 21:05');
  });
});

describe('the words below the picture', () => {
  it.each([
    [3, 'open'],
    [30, undefined],
  ])('are open in a document with %d holds: %s', (holds, open) => {
    const bands = Array.from({ length: holds }, (_, index) => ({
      ...hold,
      from: at(index),
      to: at(index) + 1,
    }));
    const list = all(draw({ bands }, { list: 'open' })).find(({ tag }) => tag === 'details');
    expect(list?.attributes['open']).toBe(open);
  });
});

describe('the ticks of a time axis', () => {
  const ticksOf = (lengthMs: number, most = 8, offsetMs = 0) =>
    roundTicks(
      { ...zone, localOf: (of) => of + offsetMs, from: startedAt + 5, to: startedAt + 5 + lengthMs },
      most,
    ).map(({ text }) => text);

  it('are round, and no two neighbours have the same text', () => {
    expect(ticksOf(3 * minute, 4)).toEqual(['21:01', '21:02', '21:03']);
    expect(ticksOf(40_000, 8)).toEqual(['21:00:10', '21:00:20', '21:00:30', '21:00:40']);
    expect(ticksOf(8 * hour, 4)).toEqual(['Mar 3', '03:00']);
    for (let lengthMs = 5_000; lengthMs < 300 * 24 * hour; lengthMs *= 1.7) {
      const texts = ticksOf(lengthMs);
      for (const [index, text] of texts.entries()) expect(text).not.toBe(texts[index - 1]);
      expect(texts.length).toBeLessThanOrEqual(8);
      expect(texts.length).toBeGreaterThan(0);
    }
  });

  it('are round in the zone of the reader', () => {
    expect(ticksOf(4 * hour, 8, 90 * minute)).toEqual(['23:00', 'Mar 3', '01:00', '02:00']);
  });
});
