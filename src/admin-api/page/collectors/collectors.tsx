import { useEffect, useState } from 'preact/hooks';
import { rollouts } from '../parts/live.ts';
import { type Filter, linkTo } from '../parts/route.ts';
import { numberText } from '../parts/tones.tsx';
import { ChosenVerbs } from '../verbs/chosen-collectors.tsx';
import { foundText, useCollectors } from './collector-list.ts';
import { type Chosen, CollectorsTable } from './collectors-table.tsx';
import { ColumnChoice } from './columns.tsx';
import { Filters, SavedFilters } from './filters.tsx';

const none: Chosen = new Map();

/** The collectors of a rollout. The daemon searches, and the page reads page by page. */
export function Collectors({ id, filter }: { readonly id: string; readonly filter: Filter }) {
  const [asked, setAsked] = useState(0);
  const [chosen, choose] = useState(none);
  const list = useCollectors(id, filter, asked);
  const rollout = rollouts.value.find((each) => each.id === id);
  const { sort: _sort, ...limits } = filter;
  const key = linkTo.collectors(id, limits);
  // What is not listed any more must not be held or retried unseen.
  useEffect(() => choose(none), [key]);
  const readAgain = () => {
    choose(none);
    setAsked((before) => before + 1);
  };
  return (
    <section aria-labelledby="collectors">
      <h2 id="collectors" class="lead">
        Collectors
      </h2>
      <Filters id={id} filter={filter} />
      <div class="list-tools">
        <p role="status" class="found">
          {list.problem === '' ? foundText(list, filter) : <span class="error">{list.problem}</span>}
        </p>
        <SavedFilters id={id} filter={filter} />
        <ColumnChoice />
      </div>
      <CollectorsTable id={id} filter={filter} list={list} chosen={chosen} choose={choose} />
      {chosen.size === 0 ? null : (
        <section class="chosen" aria-label="Chosen collectors">
          <b role="status">{numberText(chosen.size)} chosen</b>
          <ChosenVerbs rollout={rollout} chosen={[...chosen.values()]} then={readAgain} />
          <button type="button" class="plain" onClick={() => choose(none)}>
            choose none
          </button>
        </section>
      )}
    </section>
  );
}
