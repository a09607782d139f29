import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../../../rollout/messages/sentences.ts';
import { type Collector, callDaemon } from '../parts/call.ts';
import { rollouts } from '../parts/live.ts';
import { stateGroups } from '../parts/progress.tsx';
import { problemText } from '../parts/reading.ts';
import { type Filter, type FilterName, linkTo, replaceRoute } from '../parts/route.ts';
import { Time, TimeAfter } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';

const pageSize = 200;
/** How many rows above and below the visible part are drawn, too. */
const spareRows = 10;
const typedMs = 300;

/** The collectors of a rollout. The daemon searches, the page reads page by page, and only visible rows are drawn. */
export function Collectors({ id, filter }: { readonly id: string; readonly filter: Filter }) {
  const list = useCollectors(id, filter);
  return (
    <section aria-labelledby="collectors">
      <h2 id="collectors" class="lead">
        Collectors
      </h2>
      <Filters id={id} filter={filter} />
      <p role="status" class="found">
        {list.problem === '' ? foundText(list) : <span class="error">{list.problem}</span>}
      </p>
      <VirtualList list={list} />
    </section>
  );
}

interface CollectorList {
  readonly rows: readonly Collector[];
  readonly total: number | null;
  readonly isWhole: boolean;
  readonly isReading: boolean;
  readonly problem: string;
  readonly more: () => void;
}

function foundText({ rows, total, isWhole, isReading }: CollectorList): string {
  if (total !== null) return counted(total, 'collector');
  if (isWhole) return counted(rows.length, 'collector');
  return `${counted(rows.length, 'collector')} so far${isReading ? ', searching …' : ''}`;
}

/** Reads until the visible part of the list is filled; `more` requests the next page. */
function useCollectors(id: string, filter: Filter): CollectorList {
  const key = linkTo.collectors(id, filter);
  const [read, setRead] = useState<Omit<CollectorList, 'more'> & { readonly next: string | null }>(nothing);
  const [wanted, setWanted] = useState(pageSize);
  useEffect(() => {
    setRead(nothing);
    setWanted(pageSize);
  }, [key]);
  useEffect(() => {
    if (read.isWhole || read.problem !== '' || read.rows.length >= wanted) return;
    let isCurrent = true;
    const query = { ...queryOf(filter), limit: pageSize, ...(read.next !== null && { after: read.next }) };
    callDaemon('listRolloutCollectors', { params: { id }, query }).then(
      ({ collectors, total, next }) => {
        if (!isCurrent) return;
        const rows = [...read.rows, ...collectors];
        setRead({ rows, total, next, isWhole: next === null, isReading: rows.length < wanted, problem: '' });
      },
      (error: unknown) => {
        if (isCurrent) setRead({ ...read, isReading: false, problem: problemText(error) });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [key, read, wanted]);
  return { ...read, more: () => setWanted(read.rows.length + pageSize) };
}

const nothing = { rows: [], total: null, isWhole: false, isReading: true, problem: '', next: null } as const;

function queryOf({ state, ...others }: Filter): Readonly<Record<string, string>> {
  if (state === undefined) return others;
  const states = stateGroups.find(({ name }) => name === state)?.states ?? [state];
  return { ...others, state: states.join(',') };
}

function Filters({ id, filter }: { id: string; filter: Filter }) {
  const rollout = rollouts.value.find((each) => each.id === id);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const set = (name: FilterName, value: string) => {
    const { [name]: _before, ...others } = filter;
    replaceRoute(linkTo.collectors(id, value === '' ? others : { ...others, [name]: value }));
  };
  const field = (name: FilterName, label: string, placeholder: string) => (
    <label>
      {label}
      <input
        type="search"
        key={`${name} ${filter[name] ?? ''}`}
        defaultValue={filter[name] ?? ''}
        placeholder={placeholder}
        autocomplete="off"
        onChange={({ currentTarget }) => set(name, currentTarget.value.trim())}
      />
    </label>
  );
  const choice = (
    name: FilterName,
    label: string,
    options: ReadonlyArray<{ name: string; label?: string }>,
  ) => (
    <label>
      {label}
      <select value={filter[name] ?? ''} onChange={({ currentTarget }) => set(name, currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option.name} value={option.name}>
            {option.label ?? option.name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label class="wide">
        Search
        <input
          type="search"
          defaultValue={filter.match ?? ''}
          placeholder="name, id, build, stratum, field"
          autocomplete="off"
          onInput={({ currentTarget }) => {
            clearTimeout(timer.current);
            const { value } = currentTarget;
            timer.current = setTimeout(() => set('match', value.trim()), typedMs);
          }}
        />
      </label>
      {choice('state', 'State', stateGroups)}
      {choice('wave', 'Wave', rollout?.waves ?? [])}
      {field('stratum', 'Stratum', 'any')}
      {field('cause', 'Cause', 'words of the reason')}
      {field('attributes', 'Attribute', 'fields.rack=r7')}
    </form>
  );
}

/** Only visible rows are in the document. A space above and below replaces the others. */
function VirtualList({ list }: { readonly list: CollectorList }) {
  const element = useRef<HTMLUListElement>(null);
  const [sight, setSight] = useState({ first: 0, count: 40, rowHeight: 52 });
  const { rows, total, isWhole } = list;
  useEffect(() => {
    const checkPlace = () => {
      const ul = element.current;
      if (ul === null) return;
      const rowHeight = Number.parseFloat(getComputedStyle(ul).getPropertyValue('--row')) || 52;
      const above = Math.max(0, -ul.getBoundingClientRect().top);
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
  }, []);
  const { first, count, rowHeight } = sight;
  const isNearEnd = first + count + spareRows >= rows.length;
  useEffect(() => {
    if (isNearEnd && !isWhole) list.more();
  }, [isNearEnd, rows.length, isWhole]);
  const inSight = rows.slice(first, first + count);
  return (
    <ul
      ref={element}
      class="collectors"
      style={{
        paddingTop: `${first * rowHeight}px`,
        paddingBottom: `${Math.max(0, rows.length - first - count) * rowHeight}px`,
      }}
    >
      {inSight.map((each, index) => (
        <li key={each.collectorId} aria-setsize={total ?? -1} aria-posinset={first + index + 1}>
          <Row {...each} />
        </li>
      ))}
    </ul>
  );
}

function Row(collector: Collector) {
  const { collectorId, collectorName, state, wave, stratum, reason, attempts, endedAt, dueAt } = collector;
  return (
    <>
      <a href={linkTo.collector(collectorId)}>
        <bdi>{collectorName}</bdi>
      </a>
      <Badge name={state} />
      <span class="quiet place" title={stratum}>
        {wave} · {stratum}
      </span>
      <span class="reason" title={reason ?? ''}>
        {reason ?? ''}
      </span>
      <span class="quiet when">
        {attempts > 1 ? `${attempts} attempts · ` : ''}
        {endedAt === null ? <TimeAfter words="due " at={dueAt} /> : <Time at={endedAt} />}
      </span>
    </>
  );
}
