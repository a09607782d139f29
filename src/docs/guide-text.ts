import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import type { MarkedToken, Token, Tokens } from 'marked';
import { type Guide, linkTarget, type Section } from './load-guides.ts';

export interface TextStyle {
  /** At least 60. */
  readonly columns: number;
  paint(format: 'bold' | 'cyan', text: string): string;
}

/** Sections of a guide as plain text, each below its heading. */
export function guideText(
  sections: readonly Section[],
  where: { readonly guide: Guide; readonly guides: readonly Guide[] },
  style: TextStyle,
): string {
  const parts = sections.map(({ title, depth, body }) => {
    const underlined = `${style.paint('bold', title)}\n${(depth === 1 ? '=' : '-').repeat(title.length)}`;
    return [underlined, sectionText(body, where, style)].filter((text) => text !== '').join('\n\n');
  });
  return `${parts.join('\n\n')}\n`;
}

/** The text of a section without its heading. */
export function sectionText(
  body: readonly MarkedToken[],
  { guide, guides }: { readonly guide: Guide; readonly guides: readonly Guide[] },
  { columns, paint }: TextStyle,
): string {
  const inline = (tokens: readonly Token[] = []): string =>
    (tokens as MarkedToken[]).map(inlineText).join('');
  const inlineText = (token: MarkedToken): string => {
    switch (token.type) {
      case 'strong':
      case 'em':
        return paint('bold', inline(token.tokens));
      case 'codespan':
        return paint('cyan', `\`${token.text}\``);
      case 'link':
        return `${inline(token.tokens)}${placeOf(token)}`;
      case 'text':
        return token.tokens === undefined ? token.text : inline(token.tokens);
      case 'escape':
        return token.text;
      case 'image':
        return `[${token.text}]`;
      case 'br':
        return '\n';
      default:
        return '';
    }
  };
  const placeOf = ({ href, text }: Tokens.Link): string => {
    const target = linkTarget(href, guide, guides);
    switch (target.kind) {
      case 'outside':
        return ` (${target.url})`;
      case 'file':
        return target.path.endsWith(text) ? '' : ` (${target.path})`;
      case 'guide':
        return target.guide === guide ? '' : ` (upwave help ${target.guide.name})`;
    }
  };
  const block = (token: MarkedToken, width: number): string => {
    switch (token.type) {
      case 'paragraph':
      case 'text':
        return wrap(inlineText({ ...token, type: 'text', tokens: token.tokens ?? [] }), width);
      case 'code':
        return indent(token.text, '    ');
      case 'list':
        return listText(token, width);
      case 'table':
        return tableText(token, width);
      case 'blockquote':
        return indent(blocks(token.tokens, width - 2), '  ');
      default:
        return '';
    }
  };
  const blocks = (tokens: readonly Token[], width: number): string =>
    (tokens as MarkedToken[])
      .map((token) => block(token, width))
      .filter((text) => text !== '')
      .join('\n\n');
  const listText = ({ items, ordered, loose, start }: Tokens.List, width: number): string => {
    const texts = items.map(({ tokens }, at) => {
      const mark = ordered ? `${Number(start) + at}. ` : '- ';
      return mark + indent(blocks(tokens, width - mark.length), ' '.repeat(mark.length)).trimStart();
    });
    return texts.join(loose ? '\n\n' : '\n');
  };
  const tableText = ({ header, rows }: Tokens.Table, width: number): string => {
    const cells = [header, ...rows].map((row) => row.map(({ tokens }) => inline(tokens)));
    const table = new Table({
      chars: noLines,
      colWidths: columnWidths(cells, width),
      wordWrap: true,
      style: plain,
    });
    table.push(...cells.map((row, at) => (at === 0 ? row.map((cell) => paint('bold', cell)) : row)));
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  };
  return blocks(body, columns);
}

const plain = { head: [], border: [], 'padding-left': 0, 'padding-right': 2 };
const noLines = {
  ...{
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
  },
  ...{
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: '',
  },
};

const widthOf = (text: string) => stripVTControlCharacters(text).length;
const cellPadding = 2;

/** Narrow columns keep their width, and the others share the rest by what they hold. */
function columnWidths(cells: ReadonlyArray<readonly string[]>, width: number): number[] {
  const wanted = (cells[0] ?? []).map(
    (_cell, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))) + cellPadding,
  );
  let room = width;
  const widths = wanted.map(() => 0);
  const byWidth = wanted.map((each, column) => ({ each, column })).sort((a, b) => a.each - b.each);
  for (const [at, { each, column }] of byWidth.entries()) {
    const share = Math.floor(room / (byWidth.length - at));
    widths[column] = Math.min(each, share);
    room -= widths[column];
  }
  return widths;
}

function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

/** A word that is wider than a line, such as a path, has a line of its own. */
function wrap(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + 1 + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}
