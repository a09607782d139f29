import { blocksText } from '../docs/guide-text.ts';
import { loadGuides } from '../docs/load-guides.ts';
import { roff } from './shell/roff.ts';
import { readVersion } from './shell/version.ts';

// `man` indents text by seven columns of eighty.
const style = { columns: 72, paint: (_format: string, text: string) => text };

/** The manual page with all guides (`man upwave-docs`): the build writes it. @returns roff */
export function docsManPage(): string {
  const guides = loadGuides();
  return [
    `.TH UPWAVE-DOCS 7 "" "upwave ${roff(readVersion())}" "Guides"`,
    '.SH NAME',
    'upwave\\-docs \\- the guides of upwave',
    ...guides.flatMap((guide) =>
      guide.sections.flatMap(({ title, depth, body }) => [
        `${depth === 1 ? '.SH' : '.SS'} ${roff(title)}`,
        ...literal(blocksText(body, { ...style, guide, guides })),
      ]),
    ),
    '',
  ].join('\n');
}

/** The text is laid out already. */
function literal(text: string): readonly string[] {
  return text === '' ? [] : ['.nf', ...text.split('\n').map(roff), '.fi'];
}
