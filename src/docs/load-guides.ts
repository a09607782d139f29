import { readFileSync } from 'node:fs';
import { lexer, type MarkedToken, type Tokens } from 'marked';
import { guideGroups, type ListedGuide } from './guide-list.ts';

/** A heading with the text below it, up to the next heading. */
export interface Section {
  readonly title: string;
  /** The part of its address behind `#`. */
  readonly anchor: string;
  /** 1: the title of the guide. */
  readonly depth: number;
  /** Without the heading. */
  readonly body: readonly MarkedToken[];
}

/** A key, metric or other name with an entry in a list of a reference. */
export interface Term {
  readonly name: string;
  /** The part of its address behind `#`. */
  readonly anchor: string;
  /** The text of its entry, in Markdown. */
  readonly text: string;
}

export interface Guide extends ListedGuide {
  readonly title: string;
  /** The first one is the beginning of the guide. */
  readonly sections: readonly Section[];
}

// The build copies the guides, so that they are beside this file in `dist/`, too.
const folder = new URL('guides/', import.meta.url);

/** Reads all guides, in the order of their list. */
export function loadGuides(): readonly Guide[] {
  return guideGroups.flatMap(({ guides }) => guides.map(loadGuide));
}

export function loadGuide(listed: ListedGuide): Guide {
  const sections = sectionsOf(readFileSync(new URL(`${listed.name}.md`, folder), 'utf8'));
  return { ...listed, title: sections[0]?.title ?? listed.name, sections };
}

/** The names that have an entry in a section of a guide, in their order. */
export function termsOf(guide: ListedGuide, section: Section): readonly Term[] {
  return section.body.flatMap((token) =>
    token.type === 'list' ? token.items.flatMap((item) => termOf(guide, section, item) ?? []) : [],
  );
}

/** @returns undefined where an item of a list is no entry: those begin with a name and its type in brackets */
export function termOf(
  { namesEntries }: ListedGuide,
  { anchor, depth }: Section,
  { text }: Pick<Tokens.ListItem, 'text'>,
): Term | undefined {
  if (namesEntries !== true) return undefined;
  const [, name] = /^`([\w.]+)` \(/.exec(text) ?? [];
  return name === undefined ? undefined : { name, anchor: depth === 1 ? name : `${anchor}.${name}`, text };
}

/** A picture that a guide shows, as an address that holds the picture itself: the page may load nothing. */
export function pictureUrl(href: string): string {
  return `data:image/svg+xml;base64,${readFileSync(new URL(href, folder)).toString('base64')}`;
}

function sectionsOf(text: string): readonly Section[] {
  const sections: (Section & { readonly body: MarkedToken[] })[] = [];
  // Without extensions there are no other tokens.
  for (const token of lexer(text) as MarkedToken[]) {
    if (token.type === 'heading') {
      const title = token.text.replaceAll('`', '');
      sections.push({ title, anchor: anchorOf(title), depth: token.depth, body: [] });
    } else sections.at(-1)?.body.push(token);
  }
  return sections;
}

/** The name of an alert is its anchor. Other headings have the anchor that GitHub gives them. */
function anchorOf(heading: string): string {
  if (/^Upwave[A-Z]\w+$/.test(heading)) return heading;
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Where a link in a guide leads. */
export type LinkTarget =
  | { readonly kind: 'guide'; readonly guide: Guide; readonly section: Section | undefined }
  | { readonly kind: 'outside'; readonly url: string }
  /** A file of the package or of the source, by its path from the root. */
  | { readonly kind: 'file'; readonly path: string };

/** @param from the guide with the link */
export function linkTarget(href: string, from: Guide, guides: readonly Guide[]): LinkTarget {
  if (/^https?:/.test(href)) return { kind: 'outside', url: href };
  const [file = '', anchor] = href.split('#');
  const guide = file === '' ? from : guides.find(({ name }) => `${name}.md` === file);
  if (guide === undefined)
    return { kind: 'file', path: new URL(file, 'file:///src/docs/guides/').pathname.slice(1) };
  return { kind: 'guide', guide, section: anchor === undefined ? undefined : findSection(guide, anchor) };
}

/** On GitHub all anchors are in lower case, so the guides write them so. */
export function findSection({ sections }: Guide, anchor: string): Section | undefined {
  return sections.find((each) => each.anchor.toLowerCase() === anchor.toLowerCase());
}
