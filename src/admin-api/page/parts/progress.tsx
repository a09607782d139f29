import { showCount } from '../../../base/singular-or-plural.ts';
import type { Counts, UpgradeState } from './call.ts';
import { linkTo } from './route.ts';
import type { Tone } from './tones.tsx';

/** Groups of states that look alike to a person. Links contain the names. */
export interface StateGroup {
  readonly name: string;
  readonly tone: Tone;
  readonly label: string;
  readonly states: readonly UpgradeState[];
}

export const stateGroups: readonly StateGroup[] = [
  { name: 'succeeded', tone: 'good', label: 'succeeded', states: ['succeeded'] },
  { name: 'inFlight', tone: 'busy', label: 'in flight', states: ['queued', 'starting', 'upgrading'] },
  // It has no slot any more, so it does not count as in flight.
  { name: 'verifying', tone: 'busy', label: 'verifying', states: ['verifying'] },
  { name: 'retrying', tone: 'late', label: 'retrying', states: ['retrying'] },
  { name: 'deferred', tone: 'late', label: 'deferred', states: ['deferred'] },
  { name: 'failed', tone: 'bad', label: 'failed', states: ['failed', 'timedOut', 'unconfirmed'] },
  { name: 'pending', tone: 'rest', label: 'pending', states: ['pending'] },
  { name: 'withdrawn', tone: 'rest', label: 'withdrawn', states: ['withdrawn'] },
  { name: 'rolledBack', tone: 'late', label: 'rolled back', states: ['rolledBack'] },
];

function countOf(counts: Counts, name: string): number {
  const states = stateGroups.find((group) => group.name === name)?.states ?? [];
  return states.reduce((total, state) => total + counts[state], 0);
}

export function inFlightOf(counts: Counts): number {
  return countOf(counts, 'inFlight') + countOf(counts, 'verifying');
}

export function failedOf(counts: Counts): number {
  return countOf(counts, 'failed');
}

interface BarProps {
  readonly counts: Counts;
  readonly size: number;
  readonly label?: string;
}

/** Upgrades as parts of a bar, one for each group of states. */
export function Bar({ counts, size, label = '' }: BarProps) {
  return (
    <div class="bar" role="img" aria-label={`${label}${describe(counts)}`}>
      {groupsIn(counts).map(({ name, tone, label: words, count }) => (
        <span
          key={name}
          class={tone}
          title={`${showCount(count)} ${words}`}
          style={{ width: `${(100 * count) / Math.max(1, size)}%` }}
        />
      ))}
    </div>
  );
}

/** `12 succeeded, 1 failed` */
function describe(counts: Counts): string {
  const words = groupsIn(counts).map(({ label, count }) => `${showCount(count)} ${label}`);
  return words.join(', ') || 'nothing yet';
}

/** The legend of a bar, with counts. Each entry links to its collectors. */
export function Key({ counts, rolloutId }: { counts: Counts; rolloutId: string }) {
  return (
    <ul class="key">
      {groupsIn(counts).map(({ name, tone, label, count }) => (
        <li key={name}>
          <i class={tone} aria-hidden="true" />
          <a href={linkTo.collectors(rolloutId, { state: name })}>
            <b>{showCount(count)}</b> {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

function groupsIn(counts: Counts): readonly (StateGroup & { readonly count: number })[] {
  return stateGroups
    .map((group) => ({ ...group, count: countOf(counts, group.name) }))
    .filter(({ count }) => count > 0);
}
