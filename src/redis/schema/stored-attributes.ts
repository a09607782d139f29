import { z } from 'zod';
import { type Cells, cellsFor } from '../../rollout/model/attribute-column.ts';
import type { AttributeTable } from '../../rollout/model/attributes.ts';
import { packText, unpackText } from './packed-text.ts';
import { BrokenRecordError } from './unreadable-records.ts';

// Several times the largest table. A larger one is not from upwave.
const tableBytesMax = 256 * 1024 * 1024;

const storedTable = z.object({
  /** Each id as its difference from the previous one. */
  ids: z.array(z.number()),
  columns: z.array(
    z.object({
      key: z.string(),
      values: z.array(z.string()),
      /** The bytes of the typed array in base64: a list of numbers takes ten times as long to read. Earlier versions wrote lists. */
      cells: z.union([z.base64(), z.array(z.int())]),
    }),
  ),
});

/**
 * The stored tables in the order in which they were written, because the first row of each collector counts. Redis returns
 * the fields of a hash in any order. A table of late joiners has the rev of its join as its field; in earlier versions it had
 * the mark of its write, so the order of those is lost.
 */
export function tablesInOrder(fields: Readonly<Record<string, string>>): readonly string[] {
  const placeOf = (field: string) => (field === 'plan' ? 0 : Number(field) || 1);
  return Object.entries(fields)
    .sort(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([, text]) => text);
}

/** Encodes a table as compressed JSON; empty for no table. */
export async function encodeAttributes(table: AttributeTable | undefined): Promise<string> {
  if (table === undefined) return '';
  const ids = table.ids.map((id, row) => id - (table.ids[row - 1] ?? 0));
  const columns = table.columns.map(({ key, values, cells }) => ({
    ...{ key, values },
    cells: encodeCells(cells, values.length),
  }));
  return packText(JSON.stringify({ ids, columns }));
}

function encodeCells(cells: Cells, values: number): string {
  const { buffer, byteOffset, byteLength } = cellsFor(values).from(cells);
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** @throws RangeError when the bytes are no whole numbers */
function decodeCells(cells: string | readonly number[], values: number): Cells {
  const Typed = cellsFor(values);
  return typeof cells === 'string' ? new Typed(Uint8Array.from(Buffer.from(cells, 'base64')).buffer) : cells;
}

/** The name of a rollout's attributes in error messages. */
export function attributesName(rolloutId: string): string {
  return `the attributes of rollout ${rolloutId}`;
}

/** Decodes a table. @returns a function that returns it, or throws BrokenRecordError */
export async function decodeAttributes(text: string, rolloutId: string): Promise<() => AttributeTable> {
  try {
    const { ids, columns } = storedTable.parse(JSON.parse(await unpackText(text, tableBytesMax)));
    let id = 0;
    const table = {
      ids: ids.map((distance) => {
        id += distance;
        return id;
      }),
      columns: columns.map(({ key, values, cells }) => ({
        ...{ key, values },
        cells: decodeCells(cells, values.length),
      })),
    };
    return () => table;
  } catch (error) {
    const broken = new BrokenRecordError(attributesName(rolloutId), error);
    return () => {
      throw broken;
    };
  }
}
