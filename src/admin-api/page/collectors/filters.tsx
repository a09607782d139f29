import { useRef, useState } from 'preact/hooks';
import { Choice } from '../parts/choice.tsx';
import { keptSignal } from '../parts/kept.ts';
import { rollouts } from '../parts/live.ts';
import { stateGroups } from '../parts/progress.tsx';
import { type Filter, type FilterName, linkTo, replaceRoute } from '../parts/route.ts';

const typedMs = 300;

/** What the list is limited to. It is part of the link. */
export function Filters({ id, filter }: { readonly id: string; readonly filter: Filter }) {
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
  const choice = (name: FilterName, label: string, options: Parameters<typeof Choice>[0]['options']) => (
    <Choice label={label} value={filter[name] ?? ''} options={options} choose={(value) => set(name, value)} />
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

interface SavedFilter {
  readonly name: string;
  readonly filter: Filter;
}

const savedFilters = keptSignal<readonly SavedFilter[]>(
  'upwave.filters',
  [],
  (value): value is readonly SavedFilter[] =>
    Array.isArray(value) &&
    value.every((each) => typeof each?.name === 'string' && typeof each?.filter === 'object'),
);

const nameLengthMax = 60;

/** Filters with a name, kept in this browser for all rollouts. The sort is a part of them. */
export function SavedFilters({ id, filter }: { readonly id: string; readonly filter: Filter }) {
  const [name, setName] = useState('');
  const without = (gone: string) => savedFilters.value.filter((each) => each.name !== gone);
  const save = (event: Event) => {
    event.preventDefault();
    savedFilters.value = [...without(name.trim()), { name: name.trim(), filter }];
    setName('');
  };
  return (
    <details class="menu">
      <summary>Saved filters</summary>
      <div>
        <ul>
          {savedFilters.value.map((each) => (
            <li key={each.name}>
              <a href={linkTo.collectors(id, each.filter)}>{each.name}</a>
              <button
                type="button"
                class="plain"
                aria-label={`delete the filter ${each.name}`}
                onClick={() => (savedFilters.value = without(each.name))}
              >
                delete
              </button>
            </li>
          ))}
        </ul>
        <form onSubmit={save}>
          <label>
            Name of this filter
            <input
              required
              maxLength={nameLengthMax}
              pattern=".*\S.*"
              autocomplete="off"
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <button type="submit">save</button>
        </form>
      </div>
    </details>
  );
}
