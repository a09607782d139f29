import type { Guide } from './load-guides.ts';
import type { SearchEntry } from './search-entry.ts';

/** Every section of every guide. The page searches them itself, so the daemon learns nothing of what is typed. */
export function searchIndex(guides: readonly Guide[]): readonly SearchEntry[] {
  return guides.flatMap((guide) =>
    guide.sections.map(({ title, anchor, depth, body }) => ({
      guide: guide.name,
      in: guide.title,
      title,
      anchor: depth === 1 ? '' : anchor,
      words: wordsOf([title, guide.answers, ...body.map(({ raw }) => raw)].join(' ')),
    })),
  );
}

const wordLengthMin = 3;

function wordsOf(markdown: string): string {
  const text = markdown.replaceAll(/<!--.*?-->/gs, ' ').toLowerCase();
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word);
  return [...new Set(words.filter(({ length }) => length >= wordLengthMin))].sort().join(' ');
}
