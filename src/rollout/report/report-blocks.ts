import type { EpochMs } from '../../base/time.ts';
import type { ChartElement } from '../charts/chart-element.ts';

/** A part of a report. Its texts are not escaped yet. */
export type Block =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'chart'; readonly chart: ChartElement }
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: ReadonlyArray<readonly string[]>;
      readonly fold: TableFold;
    };

/** HTML folds a table that is longer than a screen, under the number of its rows and this word. */
export interface TableFold {
  readonly name: string;
  readonly rowsMax: number;
}

// With the heading and a summary around it, about a screen.
const usualFold: TableFold = { name: 'rows', rowsMax: 20 };

export interface ReportDocument {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** `2026-11-22 01:37 UTC`; empty for what has not happened. */
export function instantText(at: EpochMs | null): string {
  return at === null ? '' : utcText(at);
}

export function headingBlock(words: string): Block {
  return { kind: 'heading', text: words };
}

export function textBlock(words: string): Block {
  return { kind: 'text', text: words };
}

export function chartBlocks(drawn: ChartElement | undefined): readonly Block[] {
  return drawn === undefined ? [] : [{ kind: 'chart', chart: drawn }];
}

/** `2026-11-22 01:37 UTC` */
export function utcText(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** @param fold a word for the rows, or when they are folded, too */
export function tableBlock(
  columns: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  fold: string | TableFold = usualFold,
): Block {
  return {
    kind: 'table',
    columns,
    rows,
    fold: typeof fold === 'string' ? { ...usualFold, name: fold } : fold,
  };
}
