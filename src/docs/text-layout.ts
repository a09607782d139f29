import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';

const widthOf = (text: string) => stripVTControlCharacters(text).length;

/** Breaks a paragraph into lines. A word that is wider than a line, such as a path, has a line of its own. */
export function wrap(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + 1 + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}

export function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 2 };
const cellPadding = style['padding-right'];
const noLines = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '' },
};

/** A table without lines, as wide as the text around it at most. */
export function layTable(cells: ReadonlyArray<readonly string[]>, width: number): string {
  const table = new Table({ chars: noLines, colWidths: columnWidths(cells, width), wordWrap: true, style });
  table.push(...cells.map((row) => [...row]));
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Narrow columns keep their width, and the others share the remaining room. */
function columnWidths(cells: ReadonlyArray<readonly string[]>, width: number): number[] {
  const wanted = (cells[0] ?? []).map(
    (_cell, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))) + cellPadding,
  );
  let room = width;
  const widths = wanted.map(() => 0);
  const byWidth = wanted.map((each, column) => ({ each, column })).sort((a, b) => a.each - b.each);
  for (const [at, { each, column }] of byWidth.entries()) {
    const given = Math.min(each, Math.floor(room / (byWidth.length - at)));
    widths[column] = given;
    room -= given;
  }
  return widths;
}
