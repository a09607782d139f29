import Table from 'cli-table3';
import { toPrintable } from '../../base/safe-text.ts';

/** Enough for any id and most names. A whole row should fit into a terminal. */
const cellLengthMax = 48;

/** No lines between rows, because a list may have a thousand rows. */
const noRowLines = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

/** Renders a table. Texts may come from anywhere: they are made printable, and long ones are cut. */
export function renderTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const table = new Table({ head: [...head], chars: noRowLines, style: { head: [], border: [] } });
  for (const row of rows) table.push(row.map(cell));
  return table.toString();
}

function cell(text: string): string {
  const characters = Array.from(toPrintable(text));
  if (characters.length <= cellLengthMax) return characters.join('');
  return `${characters.slice(0, cellLengthMax - 1).join('')}…`;
}
