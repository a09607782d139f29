import type { Rollout, Wave } from './api.ts';
import { add, clock, make, named } from './elements.ts';
import { bar, describe } from './progress.ts';
import { badge } from './tones.ts';

/** The waves of a rollout, with the gates of the current one. */
export function waveParts(rollout: Rollout): HTMLElement[] {
  const current = rollout.waves.find((wave) => wave.state !== 'passed');
  const parts = [make('h3', {}, 'Waves'), waveTable(rollout)];
  if (current === undefined || current.gates.length === 0) return parts;
  const gates = current.gates.map((gate) =>
    make('li', {}, badge(gate.verdict), make('span', {}, gate.words)),
  );
  return [
    ...parts,
    make('h3', {}, 'Gates of ', named(current.name)),
    make('ul', { class: 'gates' }, ...gates),
  ];
}

function waveTable({ waves, strata }: Rollout): HTMLElement {
  const head = (text: string, kind: string) => make('th', { scope: 'col', class: kind }, text);
  const heads = [
    head('Wave', 'name'),
    head('State', 'state'),
    head('Progress', 'progress'),
    ...['Succeeded', 'Failures', 'Lost', 'Strata'].map((text) => head(text, 'number')),
  ];
  const rows = waves.map((wave) => waveRow(wave, strata.total));
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows));
  return make('div', { class: 'scroll' }, table);
}

function waveRow(wave: Wave, strataTotal: number): HTMLElement {
  const acknowledged = wave.acknowledged > 0 ? `, not counting ${wave.acknowledged} acknowledged` : '';
  const failures = make(
    'span',
    {
      class: wave.failures > wave.failuresAllowed ? 'error' : undefined,
      title: `weighted failures, of those allowed${acknowledged}`,
    },
    `${wave.failures} of ${wave.failuresAllowed}`,
  );
  const number = (content: HTMLElement | string) => make('td', { class: 'number' }, content);
  const label = `${wave.name}: ${describe(wave.counts)}`;
  return make(
    'tr',
    {},
    make('th', { scope: 'row' }, named(wave.name)),
    make('td', {}, badge(wave.state), noteOf(wave)),
    make('td', {}, bar({ counts: wave.counts, size: wave.size, label })),
    number(`${wave.counts.succeeded} / ${wave.size}`),
    number(failures),
    number(String(wave.lost)),
    number(`${wave.strata} / ${strataTotal}`),
  );
}

function noteOf({ state, soakEndsAt, passedAt, waits, setAside, joined }: Wave): HTMLElement {
  const note = make('span', { class: 'quiet small' });
  if (state === 'soaking' && soakEndsAt !== null) add(note, ' until ', clock(soakEndsAt));
  else if (passedAt !== null) add(note, ' ', clock(passedAt));
  else if (waits !== null) add(note, ` ${waits}`);
  if (setAside > 0) add(note, ` · ${setAside} set aside`);
  if (joined > 0) add(note, ` · ${joined} joined late`);
  return note;
}
