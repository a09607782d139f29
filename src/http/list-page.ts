import type { z } from 'zod';
import { mapInSlices, type TurnBudget } from '../base/turn-budget.ts';
import type { ListPage } from '../contract/operation.ts';
import { depthMax } from './json-text.ts';

// A collector with texts of the maximum length has about 10 KB, so a page of 1,000 such collectors has 10 MB. Usual ones
// have 1.2 to 1.5 KB, so the largest page of the service, 10,000, has 15 MB.
export const pageBytesMax = 16 * 1024 * 1024;

const rowWeightMax = 64 * 1024;

/**
 * Decodes the rows of a list, in slices of the event loop. It keeps only what the contract knows of a row. A row is null
 * when it is unknown to the contract, too large, or nested too deep.
 * @param read parses the row at a place; undefined: it is too large
 */
export async function decodePage<Place, Row>(
  places: readonly Place[],
  read: (place: Place) => unknown,
  row: z.ZodType<Row>,
  turn: TurnBudget,
): Promise<ListPage<Row>> {
  let weight = 0;
  const rows = await mapInSlices(places, turn, (place) => {
    const value = read(place);
    if (isDeeper(value, depthMax)) return null;
    const decoded = row.safeParse(value).data ?? null;
    const rowWeight = weightOf(decoded);
    if (rowWeight > rowWeightMax) return null;
    weight += rowWeight;
    return decoded;
  });
  return { rows, weight };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

// Roughly what the engine needs for a value and its slot, without its characters.
const valueWeight = 32;

/** Estimates how many bytes a value needs in memory. Its depth is limited. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return valueWeight + value.length;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let sum = 2 * valueWeight;
  for (const [name, inner] of Object.entries(value)) sum += name.length + weightOf(inner);
  return sum;
}
