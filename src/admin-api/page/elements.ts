import { toPrintable } from '../../base/safe-text.ts';

/** What an element may hold; null is left out. */
export type Child = HTMLElement | string | null;

interface Options {
  readonly class?: string | undefined;
  readonly onclick?: () => void;
  /** Attributes. */
  readonly [name: string]: string | (() => void) | undefined;
}

/**
 * Makes an element. Everything from the API becomes text nodes or attributes set by the DOM, never markup: names of
 * collectors come from machines.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { class: className, onclick, ...attributes }: Options,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== undefined) element.className = className;
  if (onclick !== undefined) element.addEventListener('click', onclick);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, toPrintable(String(value)));
  add(element, ...children);
  return element;
}

/** Every text on the page passes here, or `showText`. */
export function add(element: HTMLElement, ...children: readonly Child[]): void {
  const shown = children.filter((child) => child !== null);
  element.append(...shown.map((child) => (typeof child === 'string' ? toPrintable(child) : child)));
}

/** Replaces what an element holds. A text that stays is not set again, since a screen reader would read it again. */
export function showText(element: HTMLElement, text: string): void {
  const shown = toPrintable(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** An element of `page.html`. */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`page.html has no ${id}`);
  return element as Type;
}

/** A name from a machine, kept from turning the text around it. */
export function named(text: string): HTMLElement {
  return make('bdi', {}, text);
}

/** A row of a table: its head, then its cells. */
export function row(head: Child, ...cells: readonly (Child | readonly Child[])[]): HTMLElement {
  return make(
    'tr',
    {},
    make('th', { scope: 'row' }, head),
    ...cells.map((cell) => make('td', {}, ...[cell].flat())),
  );
}

/** The time of day, with the day where that is not today. */
export function clock(at: number, timeZone?: string): HTMLElement {
  const date = new Date(at);
  const inZone = timeZone === undefined ? {} : { timeZone };
  const day = (instant: Date) =>
    instant.toLocaleDateString([], { ...inZone, year: 'numeric', month: 'short', day: 'numeric' });
  const time = date.toLocaleTimeString([], { ...inZone, hour: '2-digit', minute: '2-digit', hour12: false });
  const isToday = day(date) === day(new Date());
  const shortDay = date.toLocaleDateString([], { ...inZone, month: 'short', day: 'numeric' });
  const iso = date.toISOString();
  return make('time', { datetime: iso, title: iso }, isToday ? time : `${shortDay} ${time}`);
}

/** `3 min 5 s`, `2 h 10 min`, `3 d` */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600)
    return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} d`;
}
