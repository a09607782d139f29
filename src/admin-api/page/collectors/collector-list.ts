import { useEffect, useMemo, useState } from 'preact/hooks';
import { counted } from '../../../rollout/messages/sentences.ts';
import { type Collector, callDaemon } from '../parts/call.ts';
import { isStale } from '../parts/live.ts';
import { stateGroups } from '../parts/progress.tsx';
import { problemText, shownProblem } from '../parts/reading.ts';
import { type Filter, linkTo } from '../parts/route.ts';
import { columnOf, sorted } from './columns.tsx';

const pageSize = 200;
/** To sort, the page reads all rows: once, where the daemon would read all of them for each page. */
const sortPageSize = 1_000;
/** 20,000 rows take 6 MB and are sorted in a tenth of a second. */
const sortedMax = 20_000;

export interface CollectorList {
  readonly rows: readonly Collector[];
  readonly total: number | null;
  readonly isWhole: boolean;
  readonly isReading: boolean;
  readonly problem: string;
  readonly more: () => void;
}

type Read = Omit<CollectorList, 'more'> & { readonly next: string | null };

const nothing: Read = { rows: [], total: null, isWhole: false, isReading: true, problem: '', next: null };

/**
 * Reads until the visible part of the list is filled; `more` requests the next page. A sorted list is read as a whole.
 * @param asked changes where the list has to be read again
 */
export function useCollectors(id: string, { sort, ...filter }: Filter, asked: number): CollectorList {
  const isSorted = columnOf(sort) !== undefined;
  const key = `${asked} ${linkTo.collectors(id, filter)}`;
  const [read, setRead] = useState<Read>(nothing);
  const [wantedOf, setWanted] = useState({ key, wanted: pageSize });
  const wanted = isSorted ? sortedMax : wantedOf.wanted;
  useEffect(() => {
    setRead(nothing);
    setWanted({ key, wanted: pageSize });
  }, [key]);
  useEffect(() => {
    if (isStale.value) return;
    setRead((before) => (before.problem === '' ? before : { ...before, isReading: true, problem: '' }));
  }, [isStale.value]);
  useEffect(() => {
    if (read.isWhole || read.problem !== '' || read.rows.length >= wanted) return;
    let isCurrent = true;
    const limit = isSorted ? sortPageSize : pageSize;
    const query = { ...queryOf(filter), limit, ...(read.next !== null && { after: read.next }) };
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
  const isComplete = read.isWhole || read.rows.length >= sortedMax;
  const rows = useMemo(
    () => (isSorted && !isComplete ? [] : sorted(read.rows, sort)),
    [read.rows, sort, isComplete],
  );
  const problem = shownProblem(read.problem, read.rows.length > 0);
  return { ...read, rows, problem, more: () => setWanted({ key, wanted: read.rows.length + pageSize }) };
}

function queryOf({ state, ...others }: Filter): Readonly<Record<string, string>> {
  if (state === undefined) return others;
  const states = stateGroups.find(({ name }) => name === state)?.states ?? [state];
  return { ...others, state: states.join(',') };
}

/** How many collectors were found, as far as that is known. */
export function foundText(list: CollectorList, { sort }: Filter): string {
  const { rows, total, isWhole, isReading } = list;
  const column = columnOf(sort);
  if (column !== undefined && !isWhole) {
    if (rows.length < sortedMax) return 'reading all of them to sort …';
    return `Only the first ${counted(rows.length, 'collector')} are sorted. Narrow the filter to sort all.`;
  }
  if (total !== null) return counted(total, 'collector');
  if (isWhole) return counted(rows.length, 'collector');
  return `${counted(rows.length, 'collector')} so far${isReading ? ', searching …' : ''}`;
}
