import { escapeHtml, toOneLine } from '../../base/safe-text.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import type { ChartElement } from '../charts/chart-element.ts';
import { chartStyle } from '../charts/chart-style.ts';
import type { Block, ReportDocument } from './report-blocks.ts';

export const reportFormats = ['html', 'md'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** Renders a report. All its texts are escaped. */
export function writeReport(report: ReportDocument, format: ReportFormat): string {
  return format === 'html' ? writeHtml(report) : writeMarkdown(report);
}

type Table = Extract<Block, { readonly kind: 'table' }>;

const style = `${chartStyle}
body { margin: 0 auto; max-width: 74rem; padding: 1rem 1.25rem 3rem; color: var(--text); background: var(--ground); overflow-wrap: anywhere }
h1 { font-size: 1.35rem; letter-spacing: -0.02em } h2 { font-size: 1.1rem; margin: 0 0 .7rem }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.1rem 1.25rem; margin: 1rem 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; vertical-align: top; overflow-wrap: break-word; padding: .25rem .6rem; border-bottom: 1px solid var(--line) }
th { color: var(--quiet); font-weight: 600 } th, .instant { white-space: nowrap } tr:last-child > * { border-bottom: 0 }
summary { cursor: pointer; color: var(--accent) } details + p, p + details { margin-top: .5rem }
.night, .stacked, .trend { margin: .5rem 0 1rem }
.trend { width: 20rem; height: 4rem }
/* On paper nothing can be opened. */
@media print {
  :root { color-scheme: light } body { max-width: none; padding: 0; background: none }
  .card { border: 0; padding: 0 } summary { color: inherit }
  details::details-content { content-visibility: visible; display: block; block-size: auto }
  tr { break-inside: avoid }
}
`;

/** A self-contained file, without scripts, links or fonts. */
function writeHtml({ title, blocks }: ReportDocument): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeText(title)}</h1>
${cardsOf(blocks)
  .map((card) => `<section class="card">\n${card.map(htmlOf).join('\n')}\n</section>`)
  .join('\n')}
</body>
</html>
`;
}

/** A card for each heading, and one for what comes before the first. */
function cardsOf(blocks: readonly Block[]): ReadonlyArray<readonly Block[]> {
  const cards: Block[][] = [];
  for (const block of blocks) {
    const card = cards.at(-1);
    if (card === undefined || block.kind === 'heading') cards.push([block]);
    else card.push(block);
  }
  return cards;
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2>${escapeText(block.text)}</h2>`;
    case 'text':
      return `<p>${escapeText(block.text)}</p>`;
    case 'chart':
      return chartText(block.chart);
    case 'table':
      return foldedHtml(block);
    default:
      return block satisfies never;
  }
}

function foldedHtml(table: Table): string {
  const { rows, fold } = table;
  const html = tableHtml(table);
  if (rows.length <= fold.rowsMax) return html;
  return `<details><summary>${showCount(rows.length)} ${escapeText(fold.name)}</summary>\n${html}</details>`;
}

// As `utcText` writes it: a line does not break in it.
const instantPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/u;

function tableHtml({ columns, rows }: Table): string {
  const isPairs = columns.every((column) => column === '');
  const row = (cells: readonly string[], tagOf: (index: number) => 'th' | 'td') =>
    `<tr>${cells.map((cell, index) => `<${tagOf(index)}${instantPattern.test(cell) ? ' class="instant"' : ''}>${escapeText(cell)}</${tagOf(index)}>`).join('')}</tr>`;
  const head = isPairs ? '' : `<thead>${row(columns, () => 'th')}</thead>`;
  const body = rows.map((cells) => row(cells, (index) => (isPairs && index === 0 ? 'th' : 'td')));
  return `<div class="scroll"><table>${head}<tbody>${body.join('\n')}</tbody></table></div>`;
}

/** A chart as HTML or SVG. Its texts are escaped. */
export function chartText({ tag, attributes, children }: ChartElement): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeText(String(value))}"`);
  const within = children.map((child) => (typeof child === 'string' ? escapeText(child) : chartText(child)));
  // The escaping cuts the blanks at both ends of a text.
  return `<${tag}${named.join('')}>${within.join(' ')}</${tag}>`;
}

/** Names and reasons are untrusted: line breaks and invisible characters are removed, too. */
function escapeText(text: string): string {
  return escapeHtml(toOneLine(text));
}

/** Leaves out the charts, whose figures are in the tables. */
function writeMarkdown({ title, blocks }: ReportDocument): string {
  const parts = blocks.flatMap((block) => (block.kind === 'chart' ? [] : [markdownOf(block)]));
  return `${[`# ${escapeMarkdown(title)}`, ...parts].join('\n\n')}\n`;
}

function markdownOf(block: Exclude<Block, { kind: 'chart' }>): string {
  switch (block.kind) {
    case 'heading':
      return `## ${escapeMarkdown(block.text)}`;
    case 'text':
      return escapeMarkdown(block.text);
    case 'table': {
      const line = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
      const rule = `|${' --- |'.repeat(block.columns.length)}`;
      return [line(block.columns), rule, ...block.rows.map(line)].join('\n');
    }
    default:
      return block satisfies never;
  }
}

/** Escapes HTML, too, because Markdown passes it through. */
function escapeMarkdown(text: string): string {
  return toOneLine(text)
    .replace(/[\\`*_[\]|~#]/g, '\\$&')
    .replace(/[<>&]/g, (character) => escapeHtml(character));
}
