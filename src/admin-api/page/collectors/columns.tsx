import type { ComponentChildren } from 'preact';
import type { Collector } from '../parts/call.ts';
import { keptSignal } from '../parts/kept.ts';
import { StratumLabel } from '../parts/stratum-label.tsx';
import { Time, TimeAfter } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';

/** A column of the list of collectors. */
export interface Column {
  readonly name: string;
  readonly label: string;
  /** For the grid of a row. */
  readonly width: string;
  /** What it is sorted by. Rows without it come last in both directions. */
  readonly sortedBy: (collector: Collector) => string | number | null;
  /** What it shows, unless that is the text it is sorted by. */
  readonly show?: (collector: Collector) => ComponentChildren;
}

/** The columns beside the name, in order. */
export const columns: readonly Column[] = [
  { name: 'id', label: 'Id', width: '6rem', sortedBy: ({ collectorId }) => collectorId },
  {
    ...{ name: 'state', label: 'State', width: '7rem', sortedBy: ({ state }) => state },
    show: ({ state }) => <Badge name={state} />,
  },
  { name: 'wave', label: 'Wave', width: 'minmax(4rem, 0.6fr)', sortedBy: ({ wave }) => wave },
  {
    ...{ name: 'stratum', label: 'Stratum', width: 'minmax(6rem, 1.5fr)' },
    sortedBy: ({ stratum }) => stratum,
    show: ({ stratum, group }) => (
      <>
        <StratumLabel label={stratum} />
        {group === null ? null : <div class="quiet">group {group}</div>}
      </>
    ),
  },
  { name: 'reason', label: 'Reason', width: 'minmax(7rem, 2fr)', sortedBy: ({ reason }) => reason },
  {
    ...{ name: 'failureClass', label: 'Class', width: '6.5rem' },
    sortedBy: ({ failureClass }) => failureClass,
  },
  { name: 'attempts', label: 'Attempts', width: '5.5rem', sortedBy: ({ attempts }) => attempts },
  { name: 'fromBuild', label: 'From', width: 'minmax(4rem, 0.7fr)', sortedBy: ({ fromBuild }) => fromBuild },
  { name: 'toBuild', label: 'To', width: 'minmax(4rem, 0.7fr)', sortedBy: ({ toBuild }) => toBuild },
  { name: 'taskId', label: 'Task', width: 'minmax(5rem, 0.8fr)', sortedBy: ({ taskId }) => taskId },
  {
    ...{ name: 'startedAt', label: 'Started', width: '8.5rem', sortedBy: ({ startedAt }) => startedAt },
    show: ({ startedAt }) => <TimeAfter words="" at={startedAt} />,
  },
  {
    ...{ name: 'when', label: 'Ended or due', width: '9.5rem' },
    sortedBy: ({ endedAt, dueAt }) => endedAt ?? dueAt,
    show: ({ endedAt, dueAt }) =>
      endedAt === null ? <TimeAfter words="due " at={dueAt} /> : <Time at={endedAt} />,
  },
];

export const nameColumn: Column = {
  ...{ name: 'name', label: 'Collector', width: 'minmax(10.5rem, 1.3fr)' },
  sortedBy: ({ collectorName }) => collectorName,
};

/** The names of the columns that are shown. */
export const chosenColumns = keptSignal<readonly string[]>(
  'upwave.columns',
  ['state', 'wave', 'stratum', 'reason', 'attempts', 'when'],
  (value): value is readonly string[] =>
    Array.isArray(value) && value.every((name) => columns.some((each) => each.name === name)),
);

const byText = new Intl.Collator('en', { numeric: true });

/** @param sort the name of a column, with a `-` before it for the last first; undefined: as read */
export function sorted(rows: readonly Collector[], sort: string | undefined): readonly Collector[] {
  const column = columnOf(sort);
  if (column === undefined) return rows;
  const sign = sort?.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [column.sortedBy(a), column.sortedBy(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order =
      typeof one === 'number' && typeof other === 'number'
        ? one - other
        : byText.compare(String(one), String(other));
    return sign * order;
  });
}

export function columnOf(sort: string | undefined): Column | undefined {
  const name = sort?.replace('-', '');
  return [nameColumn, ...columns].find((each) => each.name === name);
}

/** What a person checks to see a column. */
export function ColumnChoice() {
  return (
    <details class="menu">
      <summary>Columns</summary>
      <fieldset>
        <legend>Columns</legend>
        {columns.map(({ name, label }) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosenColumns.value.includes(name)}
              onChange={({ currentTarget: { checked } }) => {
                const others = chosenColumns.value.filter((each) => each !== name);
                chosenColumns.value = checked ? [...others, name] : others;
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
