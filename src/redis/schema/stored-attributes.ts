import { z } from 'zod';
import type { AttributeTable } from '../../rollout/model/attributes.ts';
import { packText, unpackText } from './packed-text.ts';
import { BrokenRecordError } from './unreadable-records.ts';

// Several times the largest table. A larger one is not from upwave.
const tableBytesMax = 256 * 1024 * 1024;

const storedTable = z.object({
  /** Each id as its difference from the previous one. */
  ids: z.array(z.number()),
  columns: z.array(z.object({ key: z.string(), values: z.array(z.string()), cells: z.array(z.int()) })),
});

/** Encodes a table as compressed JSON; empty for no table. */
export async function encodeAttributes(table: AttributeTable | undefined): Promise<string> {
  if (table === undefined || table.ids.length === 0) return '';
  const ids = table.ids.map((id, row) => id - (table.ids[row - 1] ?? 0));
  return packText(JSON.stringify({ ids, columns: table.columns }));
}

/** Decodes a table. @returns a function that returns it, or throws BrokenRecordError */
export async function decodeAttributes(text: string, rolloutId: string): Promise<() => AttributeTable> {
  const what = `the attributes of rollout ${rolloutId}`;
  try {
    const { ids, columns } = storedTable.parse(JSON.parse(await unpackText(text, tableBytesMax)));
    let id = 0;
    const table = {
      ids: ids.map((distance) => {
        id += distance;
        return id;
      }),
      columns,
    };
    return () => table;
  } catch (error) {
    const broken = new BrokenRecordError(what, error);
    return () => {
      throw broken;
    };
  }
}
