import { signal } from '@preact/signals';

/** The routes of the page. Notifications and reports link to them, so they must not change. */
export type Route =
  | { readonly view: 'overview'; readonly asked: AskedDialog }
  | { readonly view: 'rollout'; readonly id: string; readonly asked: AskedDialog }
  | { readonly view: 'collectors'; readonly id: string; readonly filter: Filter }
  | { readonly view: 'collector'; readonly collector: string; readonly from: CameFrom }
  | { readonly view: 'activity'; readonly filter: ActivityFilter }
  | { readonly view: 'builds' };

export type Filter = Readonly<Partial<Record<FilterName, string>>>;
const filterNames = ['state', 'wave', 'stratum', 'cause', 'attributes', 'match', 'sort'] as const;
export type FilterName = (typeof filterNames)[number];

/** The dialog that a message leads to: `do` is the verb, `what` is held or released, or the policy to start. */
export type AskedDialog = Readonly<Partial<Record<(typeof askedDialogNames)[number], string>>>;
const askedDialogNames = ['do', 'what'] as const;

/** The rollout from which a person came to a collector. */
export type CameFrom = Readonly<Partial<Record<(typeof cameFromNames)[number], string>>>;
const cameFromNames = ['rollout'] as const;

/** Who, which event, of which policy, and a text. */
export type ActivityFilter = Readonly<Partial<Record<(typeof activityFilterNames)[number], string>>>;
const activityFilterNames = ['who', 'what', 'policy', 'match'] as const;

/** `#/rollouts/<id>/collectors?state=failed`, `#/rollouts/<id>?do=resume`, `#/?do=start&what=production` */
function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [kind, name, part] = path.split('/').map(decode);
  if (kind === 'collectors' && name)
    return { view: 'collector', collector: name, from: parseFilter(query, cameFromNames) };
  if (kind === 'activity') return { view: 'activity', filter: parseFilter(query, activityFilterNames) };
  if (kind === 'builds') return { view: 'builds' };
  if (kind !== 'rollouts' || !name) return { view: 'overview', asked: parseFilter(query, askedDialogNames) };
  if (part !== 'collectors') {
    return { view: 'rollout', id: name, asked: parseFilter(query, askedDialogNames) };
  }
  return { view: 'collectors', id: name, filter: parseFilter(query, filterNames) };
}

function parseFilter<Name extends string>(
  query: string,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const values = new URLSearchParams(query);
  const filter: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = values.get(name);
    if (value) filter[name] = value;
  }
  return filter;
}

function queryOf<Name extends string>(
  filter: Readonly<Partial<Record<Name, string>>>,
  names: readonly Name[],
): string {
  const values = new URLSearchParams(names.flatMap((name) => (filter[name] ? [[name, filter[name]]] : [])));
  return values.size === 0 ? '' : `?${values}`;
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
  collectors: (id: string, filter: Filter = {}) =>
    `#/rollouts/${encodeURIComponent(id)}/collectors${queryOf(filter, filterNames)}`,
  collector: (idOrName: string | number, from: CameFrom = {}) =>
    `#/collectors/${encodeURIComponent(String(idOrName))}${queryOf(from, cameFromNames)}`,
  activity: (filter: ActivityFilter = {}) => `#/activity${queryOf(filter, activityFilterNames)}`,
  builds: '#/builds',
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
