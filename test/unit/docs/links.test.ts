import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anchorOf, filesBelow, headingsOf, proseOf } from './documents.ts';

const documents = filesBelow('', /\.md$/);
const links = documents.flatMap((document) =>
  [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ document, target })),
);

describe('links between the documents', () => {
  it('lead to files and headings that exist', () => {
    const local = links.filter(({ target }) => !/^https?:/.test(target));
    expect(local.length).toBeGreaterThan(20);
    expect(local.filter((link) => !leadsSomewhere(link)).map(inWords)).toEqual([]);
  });
});

function leadsSomewhere({ document, target }: (typeof links)[number]): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? document : posix.normalize(posix.join(posix.dirname(document), file));
  if (!existsSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)))) return false;
  return anchor === undefined || headingsOf(path).map(anchorOf).includes(anchor);
}

const inWords = ({ document, target }: (typeof links)[number]) => `${document}: ${target}`;
