/** The script of the guides: asks for a token where one is needed, and searches. */
import type { SearchEntry } from '../search-entry.ts';
import { findSections } from './find-sections.ts';

/** The page at `/` keeps the token of the tab under the same name. */
const tokenKey = 'upwave.token';

/** The text comes from this daemon, for our token. */
const trusted = (
  globalThis as unknown as {
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createHTML(text: string): string },
      ): { createHTML(text: string): string };
    };
  }
).trustedTypes?.createPolicy('docs', { createHTML: (text) => text });

function unlock(): void {
  byId<HTMLFormElement>('sign-in').addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(tokenKey, byId<HTMLInputElement>('token').value);
    void show();
  });
  if (sessionStorage.getItem(tokenKey) !== null) void show();
}

/** Replaces the form by the document of this address, asked for with the token. */
async function show(): Promise<void> {
  const why = byId('why');
  try {
    const answer = await ask(location.pathname, 'text/html');
    if (answer.status === 401) sessionStorage.removeItem(tokenKey);
    if (answer.status !== 200 && answer.status !== 404) {
      why.textContent = answer.status === 401 ? 'the token is wrong' : `the daemon answered ${answer.status}`;
      return;
    }
    // This document has the same style already. The policy allows that of the answer only there.
    const text = (await answer.text()).replace(/<style.*?<\/style>/s, '');
    const shown = new DOMParser().parseFromString(trusted?.createHTML(text) ?? text, 'text/html');
    for (const script of shown.querySelectorAll('script')) script.remove();
    document.title = shown.title;
    document.body.replaceChildren(...shown.body.childNodes);
    delete document.documentElement.dataset['locked'];
    start();
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  } catch {
    why.textContent = 'the daemon does not answer';
  }
}

function ask(path: string, accept: string): Promise<Response> {
  const token = sessionStorage.getItem(tokenKey);
  return fetch(path, {
    headers: { accept, ...(token !== null && { authorization: `Bearer ${token}` }) },
    cache: 'no-store',
  });
}

function start(): void {
  // Beside the text there is room for the list of guides, above it there is not.
  const menu = document.querySelector<HTMLDetailsElement>('details.menu');
  const wide = matchMedia('(min-width: 60rem)');
  const fold = () => {
    if (menu !== null) menu.open = wide.matches;
  };
  fold();
  wide.addEventListener('change', fold);
  const input = byId<HTMLInputElement>('search');
  const found = byId('found');
  let index: Promise<readonly SearchEntry[]> | undefined;
  const search = async (): Promise<void> => {
    index ??= ask('/docs/search.json', 'application/json').then((answer) => answer.json());
    const entries = await index;
    const typed = input.value.trim();
    found.replaceChildren(...findSections(entries, typed).map(linkTo));
    if (typed !== '' && found.children.length === 0) found.textContent = 'nothing found';
    found.hidden = typed === '';
  };
  input.addEventListener('input', () => void search());
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
    if (event.key === 'Escape') {
      input.value = '';
      found.hidden = true;
    }
    if (event.key === 'Enter' && document.activeElement === input) found.querySelector('a')?.click();
  });
  found.addEventListener('click', () => {
    found.hidden = true;
  });
}

function linkTo({ guide, in: title, title: section, anchor }: SearchEntry): HTMLElement {
  const link = document.createElement('a');
  link.href = `/docs/${guide}${anchor === '' ? '' : `#${anchor}`}`;
  const place = document.createElement('small');
  place.textContent = anchor === '' ? '' : title;
  link.append(section, ' ', place);
  return link;
}

function byId<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the document has no #${id}`);
  return found as Kind;
}

if (document.documentElement.dataset['locked'] === undefined) start();
else unlock();
