import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { showCount } from '../../../base/singular-or-plural.ts';
import type { Collector } from '../parts/call.ts';
import { holds, me } from '../parts/live.ts';
import { type Filter, linkTo, replaceRoute } from '../parts/route.ts';
import { Badge } from '../parts/tones.tsx';
import type { CollectorList } from './collector-list.ts';
import { type Column, chosenColumns, columns, nameColumn } from './columns.tsx';

/** How many rows above and below the visible part are drawn, too. */
const spareRows = 10;

/** The collectors that a person has chosen, by id. */
export type Chosen = ReadonlyMap<number, Collector>;

interface TableProps {
  readonly id: string;
  readonly filter: Filter;
  readonly list: CollectorList;
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
}

/** Only visible rows are in the document. A space above and below replaces the others. */
export function CollectorsTable({ id, filter, list, chosen, choose }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = columns.filter(({ name }) => chosenColumns.value.includes(name));
  const { rows, total, isWhole } = list;
  // On a phone each column has a line, and the reason up to three. The height of a row has room to spare for one.
  const lines = shown.length + (shown.some(({ name }) => name === 'reason') ? 1 : 0);
  const { first, count, rowHeight } = useSight(body, lines);
  const isNearEnd = first + count + spareRows >= rows.length;
  useEffect(() => {
    if (isNearEnd && !isWhole) list.more();
  }, [isNearEnd, rows.length, isWhole]);
  const isOperator = me.value.role === 'operator';
  const widths = [...(isOperator ? ['1.6rem'] : []), ...[nameColumn, ...shown].map(({ width }) => width)];
  const inSight = rows.slice(first, first + count);
  const isEachChosen = rows.length > 0 && rows.every(({ collectorId }) => chosen.has(collectorId));
  return (
    <table
      class="collectors"
      aria-rowcount={total === null ? -1 : total + 1}
      aria-labelledby="collectors"
      style={{ '--widths': widths.join(' '), '--lines': lines }}
    >
      <thead>
        <tr aria-rowindex={1}>
          {isOperator ? (
            <td>
              <input
                type="checkbox"
                aria-label={`choose the ${showCount(rows.length)} that are read`}
                checked={isEachChosen}
                onChange={() =>
                  choose(isEachChosen ? new Map() : new Map(rows.map((each) => [each.collectorId, each])))
                }
              />
            </td>
          ) : null}
          {[nameColumn, ...shown].map((column) => (
            <Heading key={column.name} id={id} filter={filter} column={column} />
          ))}
        </tr>
      </thead>
      <tbody
        ref={body}
        style={{
          paddingTop: `${first * rowHeight}px`,
          paddingBottom: `${Math.max(0, rows.length - first - count) * rowHeight}px`,
        }}
      >
        {inSight.map((collector, index) => (
          <tr key={collector.collectorId} aria-rowindex={first + index + 2}>
            {isOperator ? <Choice collector={collector} chosen={chosen} choose={choose} /> : null}
            <Name {...collector} rollout={id} />
            {shown.map((column) => (
              <Cell key={column.name} column={column} collector={collector} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The heading sorts: first upwards, then downwards, then as the daemon lists them. */
function Heading({ id, filter, column }: Pick<TableProps, 'id' | 'filter'> & { readonly column: Column }) {
  const { name, label } = column;
  const { sort, ...others } = filter;
  const isUp = sort === name;
  const isDown = sort === `-${name}`;
  const next = isUp ? { sort: `-${name}` } : isDown ? {} : { sort: name };
  return (
    <th scope="col" aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}>
      <button
        type="button"
        class="plain"
        onClick={() => replaceRoute(linkTo.collectors(id, { ...others, ...next }))}
      >
        {label}
        <span aria-hidden="true">{isUp ? ' ▲' : isDown ? ' ▼' : ''}</span>
      </button>
    </th>
  );
}

function Choice({
  collector,
  chosen,
  choose,
}: Pick<TableProps, 'chosen' | 'choose'> & { readonly collector: Collector }) {
  const { collectorId, collectorName } = collector;
  const isChosen = chosen.has(collectorId);
  const change = () => {
    const next = new Map(chosen);
    if (isChosen) next.delete(collectorId);
    else next.set(collectorId, collector);
    choose(next);
  };
  return (
    <td>
      <input type="checkbox" aria-label={`choose ${collectorName}`} checked={isChosen} onChange={change} />
    </td>
  );
}

function Name({ collectorId, collectorName, rollout }: Collector & { readonly rollout: string }) {
  const isHeld = holds.value?.collectors.some((each) => each.collectorId === collectorId) === true;
  return (
    <th scope="row">
      <a href={linkTo.collector(collectorId, { rollout })} title={collectorName}>
        <bdi>{collectorName}</bdi>
      </a>
      {isHeld ? (
        <>
          {' '}
          <Badge name="held" />
        </>
      ) : null}
    </th>
  );
}

function Cell({ column, collector }: { readonly column: Column; readonly collector: Collector }) {
  const { name, label, sortedBy, show } = column;
  const value = sortedBy(collector);
  const text = typeof value === 'number' ? showCount(value) : (value ?? '');
  return (
    <td class={name} data-label={label} title={show === undefined ? text : undefined}>
      <span>{show === undefined ? (name === 'id' ? value : text) : show(collector)}</span>
    </td>
  );
}

/** Which rows can be seen. @param lines changes the height of a row */
function useSight(body: RefObject<HTMLTableSectionElement | null>, lines: number) {
  const [sight, setSight] = useState({ first: 0, count: 40, rowHeight: 44 });
  useEffect(() => {
    const checkPlace = () => {
      const { current } = body;
      if (current === null) return;
      const rowHeight = current.querySelector('tr')?.offsetHeight || 44;
      const above = Math.max(0, -current.getBoundingClientRect().top);
      const first = Math.max(0, Math.floor(above / rowHeight) - spareRows);
      const count = Math.ceil(innerHeight / rowHeight) + 2 * spareRows;
      setSight((before) =>
        before.first === first && before.count === count && before.rowHeight === rowHeight
          ? before
          : { first, count, rowHeight },
      );
    };
    checkPlace();
    addEventListener('scroll', checkPlace, { passive: true });
    addEventListener('resize', checkPlace);
    return () => {
      removeEventListener('scroll', checkPlace);
      removeEventListener('resize', checkPlace);
    };
  }, [lines]);
  return sight;
}
