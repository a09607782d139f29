import { toPrintable } from '../../base/safe-text.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';

type Paint = ConsoleOutput['paint'];
type Color = Parameters<Paint>[0];

/** A piece of a line that stays together where it fits. */
export type Part = string | { readonly text: string; readonly color: Color };

export interface Fit {
  /** Default: no colour. */
  readonly paint?: Paint;
  /** Columns of the terminal; undefined: no line is broken. */
  readonly width: number | undefined;
  /** Columns before the text, for labels longer than usual. */
  readonly labelColumns?: number;
}

/** The default width. All output is designed for it. */
export const usualWidth = 80;

/** Columns before the text of a line, for its label. */
const usualLabelColumns = 8;

const gap = '   ';
const cutMark = ' …';

/** How many columns the longest of these texts takes; 0 where there is none. */
export function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(({ length }) => length));
}

interface Piece {
  readonly text: string;
  readonly color: Color | undefined;
}

const plain: Paint = (_color, text) => text;

/**
 * Lays out a labelled line. Parts are three blanks apart. A part that does not fit moves to the next line, below the text.
 * Texts may come from anywhere: they are made printable.
 * @param linesMax the text is cut after this many lines
 */
export function fitLines(
  label: string,
  parts: readonly Part[],
  { paint = plain, width = Number.POSITIVE_INFINITY, labelColumns = usualLabelColumns }: Fit,
  linesMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const room = Math.max(20, width - labelColumns);
  const lines = breakLines(parts, room);
  return lines.slice(0, linesMax).map((line, index) => {
    const isCut = index === linesMax - 1 && lines.length > linesMax;
    const fitted = isCut
      ? [...cutLine(line, room - cutMark.length), { text: cutMark, color: undefined }]
      : line;
    const painted = fitted
      .map(({ text, color }) => (color === undefined ? text : paint(color, text)))
      .join('');
    return `${(index === 0 ? toPrintable(label) : '').padEnd(labelColumns - 1)} ${painted}`.trimEnd();
  });
}

/**
 * Each text on a line of its own, wrapped below its beginning. Texts are made printable.
 * @param linesMax a text is cut after this many lines
 */
export function fitTexts(
  texts: readonly string[],
  width: number | undefined,
  linesMax?: number,
): readonly string[] {
  return texts.flatMap((text) => {
    const [first = '', ...more] = fitLines('', [text], { width, labelColumns: 2 }, linesMax);
    return [first.trimStart(), ...more];
  });
}

function breakLines(parts: readonly Part[], room: number): ReadonlyArray<readonly Piece[]> {
  const lines: Piece[][] = [[]];
  let used = 0;
  const put = (text: string, lead: string, color: Color | undefined): void => {
    if (used > 0 && used + lead.length + text.length > room) {
      lines.push([]);
      used = 0;
    }
    const line = lines.at(-1) ?? [];
    const shownLead = used === 0 ? '' : lead;
    const last = line.at(-1);
    // The words of a part are painted as one, but not the gap between two parts.
    if (shownLead === ' ' && last !== undefined)
      line[line.length - 1] = { text: `${last.text} ${text}`, color };
    else line.push(...(shownLead === '' ? [] : [{ text: shownLead, color: undefined }]), { text, color });
    used += shownLead.length + text.length;
  };
  for (const part of parts) {
    const { text: raw, color } = typeof part === 'string' ? { text: part, color: undefined } : part;
    const text = toPrintable(raw);
    const words = text.length <= room ? [text] : text.split(' ').flatMap((word) => inPieces(word, room));
    for (const [index, word] of words.entries()) put(word, index === 0 ? gap : ' ', color);
  }
  return lines;
}

/** Splits a word that is longer than a line. */
function inPieces(word: string, room: number): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < word.length; at += room) found.push(word.slice(at, at + room));
  return found;
}

function cutLine(line: readonly Piece[], room: number): readonly Piece[] {
  let left = room;
  return line.map(({ text, color }) => {
    const kept = text.slice(0, left);
    left -= kept.length;
    return { text: kept, color };
  });
}
