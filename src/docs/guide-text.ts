import type { MarkedToken, Token, Tokens } from 'marked';
import { type Guide, linkTarget, type Section } from './load-guides.ts';
import { indent, layTable, wrap } from './text-layout.ts';

/** Where text is shown, and which guide it is from. */
export interface TextPlace {
  readonly guide: Guide;
  readonly guides: readonly Guide[];
  readonly columns: number;
  paint(format: 'bold' | 'cyan', text: string): string;
}

/** Sections of a guide as plain text, each below its heading. */
export function guideText(sections: readonly Section[], place: TextPlace): string {
  const parts = sections.map(({ title, depth, body }) => {
    const underlined = `${place.paint('bold', title)}\n${(depth === 1 ? '=' : '-').repeat(title.length)}`;
    return [underlined, blocksText(body, place)].filter((text) => text !== '').join('\n\n');
  });
  return `${parts.join('\n\n')}\n`;
}

/** The blocks of a section without its heading, with an empty line between two. */
export function blocksText(tokens: readonly Token[], place: TextPlace): string {
  const texts = (tokens as readonly MarkedToken[]).map((token) => blockText(token, place));
  return texts.filter((text) => text !== '').join('\n\n');
}

function blockText(token: MarkedToken, place: TextPlace): string {
  switch (token.type) {
    case 'paragraph':
    case 'text':
      return wrap(inlineText(token.tokens ?? [], place), place.columns);
    case 'code':
      return indent(token.text, '    ');
    case 'list':
      return listText(token, place);
    case 'table':
      return tableText(token, place);
    case 'blockquote':
      return indent(blocksText(token.tokens, { ...place, columns: place.columns - 2 }), '  ');
    default:
      return '';
  }
}

function listText({ items, ordered, loose, start }: Tokens.List, place: TextPlace): string {
  const texts = items.map(({ tokens }, at) => {
    const mark = ordered ? `${Number(start) + at}. ` : '- ';
    const text = blocksText(tokens, { ...place, columns: place.columns - mark.length });
    return mark + indent(text, ' '.repeat(mark.length)).trimStart();
  });
  return texts.join(loose ? '\n\n' : '\n');
}

function tableText({ header, rows }: Tokens.Table, place: TextPlace): string {
  const textOf = ({ tokens }: Tokens.TableCell) => inlineText(tokens, place);
  const head = header.map((cell) => place.paint('bold', textOf(cell)));
  return layTable([head, ...rows.map((row) => row.map(textOf))], place.columns);
}

function inlineText(tokens: readonly Token[], place: TextPlace): string {
  return (tokens as readonly MarkedToken[]).map((token) => spanText(token, place)).join('');
}

function spanText(token: MarkedToken, place: TextPlace): string {
  switch (token.type) {
    case 'strong':
    case 'em':
      return place.paint('bold', inlineText(token.tokens, place));
    case 'codespan':
      return place.paint('cyan', `\`${token.text}\``);
    case 'link':
      return inlineText(token.tokens, place) + whereText(token, place);
    case 'text':
      return token.tokens === undefined ? token.text : inlineText(token.tokens, place);
    case 'escape':
      return token.text;
    case 'image':
      return `[${token.text}]`;
    case 'br':
      return '\n';
    default:
      return '';
  }
}

/** Where a link leads, as a person can follow it in a terminal. */
function whereText({ href, text }: Tokens.Link, { guide, guides }: TextPlace): string {
  const target = linkTarget(href, guide, guides);
  switch (target.kind) {
    case 'outside':
      return ` (${target.url})`;
    case 'file':
      return target.path.endsWith(text) ? '' : ` (${target.path})`;
    case 'guide':
      if (target.guide === guide) return '';
      return ` (upwave help ${[target.guide.name, target.section?.anchor].join(' ').trim()})`;
  }
}
