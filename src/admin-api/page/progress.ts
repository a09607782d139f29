import type { Rollout } from './api.ts';
import { make } from './elements.ts';
import type { Tone } from './tones.ts';

type Counts = Rollout['counts'];
type UpgradeState = keyof Counts;

interface Group {
  readonly tone: Tone;
  readonly label: string;
  readonly states: readonly UpgradeState[];
}

const failedStates = ['failed', 'timedOut', 'unconfirmed'] as const;

const groups: readonly Group[] = [
  { tone: 'good', label: 'succeeded', states: ['succeeded'] },
  { tone: 'busy', label: 'in flight', states: ['queued', 'starting', 'upgrading', 'verifying'] },
  { tone: 'late', label: 'retrying or deferred', states: ['retrying', 'deferred'] },
  { tone: 'bad', label: 'failed', states: failedStates },
  { tone: 'rest', label: 'pending', states: ['pending'] },
  { tone: 'rest', label: 'withdrawn', states: ['withdrawn', 'rolledBack'] },
];

export function failedOf(counts: Counts): number {
  return sum(counts, failedStates);
}

/** Upgrades as parts of a bar, one for each group of states. */
export function bar({ counts, size, label }: { counts: Counts; size: number; label: string }): HTMLElement {
  const element = make('div', { class: 'bar', role: 'img', 'aria-label': label });
  for (const { group, count } of countedGroups(counts)) {
    if (size === 0) continue;
    const part = make('span', { class: group.tone, title: `${count} ${group.label}` });
    part.style.width = `${(100 * count) / size}%`;
    element.append(part);
  }
  return element;
}

/** `12 succeeded, 1 failed` */
export function describe(counts: Counts): string {
  return (
    countedGroups(counts)
      .map(({ group, count }) => `${count} ${group.label}`)
      .join(', ') || 'nothing yet'
  );
}

/** What the colours of a bar mean, with their counts. */
export function key(counts: Counts): HTMLElement {
  const parts = countedGroups(counts).map(({ group, count }) =>
    make(
      'li',
      {},
      make('i', { class: group.tone, 'aria-hidden': 'true' }),
      make('b', {}, String(count)),
      ` ${group.label}`,
    ),
  );
  return make('ul', { class: 'key' }, ...parts);
}

function countedGroups(counts: Counts): readonly { readonly group: Group; readonly count: number }[] {
  return groups
    .map((group) => ({ group, count: sum(counts, group.states) }))
    .filter(({ count }) => count > 0);
}

function sum(counts: Counts, states: readonly UpgradeState[]): number {
  return states.reduce((total, state) => total + counts[state], 0);
}
