import { escapeHtml, toOneLine } from '../../base/safe-text.ts';
import type { ChartElement } from '../charts/chart-element.ts';
import { chartStyle } from '../charts/chart-style.ts';
import type { Block, ReportDocument } from './report-document.ts';

export const reportFormats = ['html', 'md'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** Renders a report. All its texts are escaped. */
export function writeReport(report: ReportDocument, format: ReportFormat): string {
  return format === 'html' ? writeHtml(report) : writeMarkdown(report);
}

const style = `${chartStyle}
body { margin: 2rem auto; max-width: 1000px; padding: 0 1rem; color: var(--text); background: var(--card) }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line) }
.night, .stacked, .trend { margin: .5rem 0 1rem }
.trend { width: 20rem; height: 4rem }
@media print { :root { color-scheme: light } body { margin: 0; max-width: none } }
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
${blocks.map(htmlOf).join('\n')}
</body>
</html>
`;
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2>${escapeText(block.text)}</h2>`;
    case 'text':
      return `<p>${escapeText(block.text)}</p>`;
    case 'chart':
      return chartText(block.chart);
    case 'table': {
      const cells = (tag: 'th' | 'td', row: readonly string[]) =>
        `<tr>${row.map((cell) => `<${tag}>${escapeText(cell)}</${tag}>`).join('')}</tr>`;
      const head = block.columns.every((column) => column === '')
        ? ''
        : `<thead>${cells('th', block.columns)}</thead>`;
      const rows = block.rows.map((row) => cells('td', row)).join('\n');
      return `<div class="scroll"><table>${head}<tbody>${rows}</tbody></table></div>`;
    }
    default:
      return block satisfies never;
  }
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
