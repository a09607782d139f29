import { describe, expect, it } from 'vitest';
import { filesBelow, headingsOf, proseOf, textOf } from './documents.ts';

const specification = 'src/contract/collector-api.md';
const facts = 'src/contract/field-facts.md';
const rules = 'src/DESIGN.md';

/** `§4.2` of these documents: a heading that begins with the number, or an item of a section's numbered list. */
const paragraphs = {
  [specification]: paragraphsOf(specification),
  [rules]: paragraphsOf(rules),
};

interface Citation {
  readonly where: string;
  readonly text: string;
}

const sources = ['src', 'test', 'config', 'deploy']
  .flatMap((folder) => filesBelow(folder, /\.(ts|lua|ya?ml|md|css|html)$/))
  .filter((path) => !path.startsWith('test/sources/'));

describe('every document that a comment or a test cites', () => {
  it('exists, when it is named', () => {
    const named = citations(/[\w./-]*\w\.md\b/g);
    expect(named.length).toBeGreaterThan(150);
    expect(named.filter(({ where, text }) => !isDocument(text, where)).map(asText)).toEqual([]);
  });

  it('has the section of the specification (`collector-api.md §7.5`)', () => {
    // A section without a document is one of the specification, where no RFC is named.
    const cited = citations(/(?:DESIGN|RFC \d+)? ?§\d[\d.]*\d?(?:[–-]\d[\d.]*\d)?/g).filter(
      ({ text }) => !/DESIGN|RFC/.test(text),
    );
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.filter(({ text }) => !everySection(text, specification)).map(asText)).toEqual([]);
  });

  it('has the section and the rule of the product (`DESIGN §4, Waves`)', () => {
    const cited = citations(/DESIGN §\d(?:, [A-Z][^):;.*'`]*)?/g);
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ text }) => !isRule(text)).map(asText)).toEqual([]);
  });

  it('has the heading of the facts (`field-facts.md, Upgrades`)', () => {
    const headings = headingsOf(facts);
    const cited = citations(/field-facts\.md, [A-Z][a-z ]+/g);
    expect(cited.length).toBeGreaterThan(30);
    const unknown = cited.filter(
      ({ text }) => !headings.includes(text.slice('field-facts.md, '.length).trim()),
    );
    expect(unknown.map(asText)).toEqual([]);
  });

  it('has the promise (`P14`)', () => {
    const promises = new Set([...textOf(rules).matchAll(/\*\*(P\d+)\*\*/g)].map(([, promise]) => promise));
    expect(promises.size).toBe(16);
    const cited = citations(/\bP(?:[1-9]|1\d)\b/g);
    expect(cited.filter(({ text }) => !promises.has(text)).map(asText)).toEqual([]);
  });
});

/** Every match in the sources, with comments read as running text. */
function citations(pattern: RegExp): Citation[] {
  return sources.flatMap((where) =>
    [
      ...textOf(where)
        .replaceAll(/\s*\n\s*(?:\*|\/\/|#|--)? ?/g, ' ')
        .matchAll(pattern),
    ].map(([text]) => ({
      where,
      text: text.trim(),
    })),
  );
}

function paragraphsOf(path: string): ReadonlySet<string> {
  const found = new Set<string>();
  let section = '';
  for (const line of proseOf(path).split('\n')) {
    const heading = /^#+ (\d[\d.]*?)\.? /.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    const item = /^(\d+)\. /.exec(line)?.[1];
    found.add(heading ?? (item === undefined ? section : `${section}.${item}`));
  }
  return found;
}

function everySection(text: string, path: keyof typeof paragraphs): boolean {
  const numbers = text.replace('§', '').trim().split(/[–-]/);
  return numbers.every((number) => paragraphs[path]?.has(number.replace(/\.$/, '')));
}

function isRule(text: string): boolean {
  const [, section = '', names] = /^DESIGN §(\d)(?:, (.+))?$/.exec(text) ?? [];
  if (!everySection(section, rules)) return false;
  const body =
    proseOf(rules)
      .split(/^## /m)
      .find((part) => part.startsWith(`${section}.`)) ?? '';
  const rulesOfSection = [...body.matchAll(/\*\*([^*]+?)\.?\*\*/g)].map(([, name]) => name);
  const known = (name: string) => rulesOfSection.includes(name.trim()) || /^P\d+$/.test(name.trim());
  return names === undefined || known(names) || names.split(/ and |, /).every(known);
}

function isDocument(cited: string, where: string): boolean {
  const folders = ['', 'src/', 'src/contract/', `${where.slice(0, where.lastIndexOf('/'))}/`];
  const path = cited.replace(/^\//, '');
  return folders.some((folder) => documents.has(new URL(folder + path, 'file:///').pathname.slice(1)));
}
const documents = new Set(filesBelow('', /\.md$/));

const asText = ({ where, text }: Citation) => `${where}: ${text}`;
