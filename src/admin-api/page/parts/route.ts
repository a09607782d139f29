import { signal } from '@preact/signals';

/** The routes of the page. Notifications and reports link to them, so they must not change. */
export type Route =
  | { readonly view: 'overview' }
  | { readonly view: 'rollout'; readonly id: string }
  | { readonly view: 'collectors'; readonly id: string; readonly filter: Filter }
  | { readonly view: 'collector'; readonly collector: string };

export type Filter = Readonly<Partial<Record<FilterName, string>>>;
const filterNames = ['state', 'wave', 'stratum', 'cause', 'attributes', 'match'] as const;
export type FilterName = (typeof filterNames)[number];

/** `#/rollouts/<id>/collectors?state=failed` */
function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [kind, name, part] = path.split('/').map(decode);
  if (kind === 'collectors' && name) return { view: 'collector', collector: name };
  if (kind !== 'rollouts' || !name) return { view: 'overview' };
  if (part !== 'collectors') return { view: 'rollout', id: name };
  const params = new URLSearchParams(query);
  const filter = filterNames.flatMap((each) => {
    const value = params.get(each);
    return value ? [[each, value]] : [];
  });
  return { view: 'collectors', id: name, filter: Object.fromEntries(filter) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A truncated or mistyped link is shown as it is.
    return text;
  }
}

export const linkTo = {
  overview: '#/',
  rollout: (id: string) => `#/rollouts/${encodeURIComponent(id)}`,
  collectors: (id: string, filter: Filter = {}) => {
    const query = new URLSearchParams(
      filterNames.flatMap((name) => (filter[name] ? [[name, filter[name]]] : [])),
    ).toString();
    return `#/rollouts/${encodeURIComponent(id)}/collectors${query === '' ? '' : `?${query}`}`;
  },
  collector: (idOrName: string | number) => `#/collectors/${encodeURIComponent(String(idOrName))}`,
} as const;

export const route = signal<Route>(parseRoute(location.hash));

/** Changes the address without a new entry in the browser's history, for filters while a person types. */
export function replaceRoute(link: string): void {
  history.replaceState(null, '', link);
  route.value = parseRoute(location.hash);
}

export function followRoute(): void {
  addEventListener('hashchange', () => {
    const before = route.value;
    route.value = parseRoute(location.hash);
    if (JSON.stringify(before) === JSON.stringify(route.value)) return;
    scrollTo(0, 0);
    // Keyboard and screen reader continue at the start of the new view.
    // The header stays visible, because it shows whether the page is live.
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
  });
}
