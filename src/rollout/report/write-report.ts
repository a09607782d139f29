import { toOneLine } from '../../base/safe-text.ts';
import type { Plot, Shape } from './plots.ts';
import type { Block, ReportDocument } from './report-document.ts';

export const reportFormats = ['html', 'md'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** Renders a report. All its texts are escaped. */
export function writeReport(report: ReportDocument, format: ReportFormat): string {
  return format === 'html' ? writeHtml(report) : writeMarkdown(report);
}

const style = `
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1000px; padding: 0 1rem; color: #1a1a1a; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #ddd }
svg { max-width: 100%; height: auto; margin: .5rem 0; font: 12px system-ui, sans-serif }
.open { fill: #3b76d6 } .soak { fill: #a8c4f0 }
.succeeded { stroke: #1c7a3e } .failed { stroke: #c22f2f } .value { stroke: #3b76d6 } .limit { stroke: #888; stroke-dasharray: 4 4 } polyline { fill: none; stroke-width: 2 }
@media print { body { margin: 0; max-width: none } }
`;

/** A self-contained file, without scripts, links or fonts. */
function writeHtml({ title, blocks }: ReportDocument): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${blocks.map(htmlOf).join('\n')}
</body>
</html>
`;
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2>${escapeHtml(block.text)}</h2>`;
    case 'text':
      return `<p>${escapeHtml(block.text)}</p>`;
    case 'plot':
      return svgOf(block.plot);
    case 'table': {
      const cells = (tag: 'th' | 'td', row: readonly string[]) =>
        `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
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

function svgOf({ title, width, height, shapes }: Plot): string {
  const label = escapeHtml(title);
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}"><title>${label}</title>${shapes.map(shapeOf).join('')}</svg>`;
}

function shapeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'bar': {
      const { x, y, width, height, fill, text } = shape;
      return `<rect class="${fill}" x="${x}" y="${y}" width="${width}" height="${height}"><title>${escapeHtml(text)}</title></rect>`;
    }
    case 'line':
      return `<polyline class="${shape.stroke}" points="${shape.points.map((point) => point.join(',')).join(' ')}"/>`;
    case 'text':
      return `<text x="${shape.x}" y="${shape.y}" text-anchor="${shape.anchor}">${escapeHtml(shape.text)}</text>`;
    default:
      return shape satisfies never;
  }
}

/** Names and reasons are untrusted: line breaks and invisible characters are removed, too. */
function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return toOneLine(text).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Leaves out the plots, whose figures are in the tables. */
function writeMarkdown({ title, blocks }: ReportDocument): string {
  const parts = blocks.flatMap((block) => (block.kind === 'plot' ? [] : [markdownOf(block)]));
  return `${[`# ${escapeMarkdown(title)}`, ...parts].join('\n\n')}\n`;
}

function markdownOf(block: Exclude<Block, { kind: 'plot' }>): string {
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
