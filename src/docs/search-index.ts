import { type Guide, termsOf } from './load-guides.ts';
import type { SearchEntry } from './search-entry.ts';

/**
 * Every section of every guide, and every name with an entry in a reference. The page searches them itself, so the daemon
 * learns nothing of what is typed.
 */
export function searchIndex(guides: readonly Guide[]): readonly SearchEntry[] {
  return guides.flatMap((guide) =>
    guide.sections.flatMap((section) => {
      const { title, anchor, depth, body } = section;
      const isWhole = depth === 1;
      const terms = termsOf(guide, section).map(({ name, anchor: at, text }) => ({
        guide: guide.name,
        in: isWhole ? guide.title : `${guide.title}, ${title}`,
        title: name,
        anchor: at,
        words: wordsOf(text),
      }));
      // An entry is found by its own words.
      const rest = terms.length === 0 ? body : body.filter(({ type }) => type !== 'list');
      const words = wordsOf([title, guide.answers, ...rest.map(({ raw }) => raw)].join(' '));
      return [{ guide: guide.name, in: guide.title, title, anchor: isWhole ? '' : anchor, words }, ...terms];
    }),
  );
}

const wordLengthMin = 3;

function wordsOf(markdown: string): string {
  const text = markdown.replaceAll(/<!--.*?-->/gs, ' ').toLowerCase();
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word);
  return [...new Set(words.filter(({ length }) => length >= wordLengthMin))].sort().join(' ');
}
