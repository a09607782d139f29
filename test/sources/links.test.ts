import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { guideGroups } from '../../src/docs/guide-list.ts';
import { anchorOf, filesBelow, headingsOf, proseOf, textOf } from './documents.ts';

const decisions = 'src/decisions';
const guides = 'src/docs/guides';
const documents = filesBelow('', /\.md$/);
const links = documents.flatMap((document) =>
  [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ document, target })),
);

describe('links between the documents', () => {
  it('lead to files and headings that exist', () => {
    const local = links.filter(({ target }) => !/^https?:/.test(target));
    expect(local.length).toBeGreaterThan(20);
    expect(local.filter((link) => !leadsSomewhere(link)).map(asText)).toEqual([]);
  });

  it('reach every decision from their list', () => {
    const listed = links
      .filter(({ document }) => document === `${decisions}/README.md`)
      .map(({ target }) => target);
    const pages = documents.filter((path) => path.startsWith(`${decisions}/0`));
    expect(listed.map((target) => `${decisions}/${target}`)).toEqual(pages.toSorted());
  });
});

describe('the guides that the program has', () => {
  const files = filesBelow(guides, /\.md$/);

  it('are all in its list, and in the lists of the folders that they are about', () => {
    const listed = guideGroups.flatMap((group) => group.guides.map(({ name }) => `${guides}/${name}.md`));
    expect(listed.toSorted()).toEqual(files.toSorted());
    const linked = links
      .filter(({ document }) => ['config/README.md', 'deploy/README.md'].includes(document))
      .map(({ document, target }) => posix.join(posix.dirname(document), target));
    expect(files.filter((file) => !linked.includes(file))).toEqual([]);
  });

  it.each(files)('begin with one title, and no heading twice: %s', (file) => {
    expect(textOf(file)).toMatch(/^# \S/);
    expect(proseOf(file).match(/^# /gm)).toHaveLength(1);
    const anchors = headingsOf(file).map(anchorOf);
    expect(new Set(anchors).size).toBe(anchors.length);
  });
});

describe('the guides to the code', () => {
  it.each([
    ['src/README.md', 80],
    ['src/RECIPES.md', 60],
    ['src/WHERE.md', 60],
    ['src/KEPT.md', 9],
  ])('%s names files that exist', (guide, least) => {
    const named = [...proseOf(guide).matchAll(/`([\w./-]+\/[\w.-]*)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(least);
    const roots = ['src/', ''];
    expect(named.filter((path) => !roots.some((root) => exists(root + path)))).toEqual([]);
  });

  it('begin with a page of 250 lines at most', () => {
    expect(textOf('src/README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(250);
  });
});

function leadsSomewhere({ document, target }: (typeof links)[number]): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? document : posix.normalize(posix.join(posix.dirname(document), file));
  if (!exists(path)) return false;
  return anchor === undefined || headingsOf(path).map(anchorOf).includes(anchor);
}

const asText = ({ document, target }: (typeof links)[number]) => `${document}: ${target}`;

function exists(path: string): boolean {
  return existsSync(pathOf(path));
}

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
