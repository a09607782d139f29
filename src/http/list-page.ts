import type { z } from 'zod';
import { mapInSlices, type TurnBudget } from '../base/turn-budget.ts';
import type { ListPage } from '../contract/operation.ts';
import { depthMax } from './json-text.ts';

// 1,000 collectors are about 1.5 MB of JSON, which is parsed in 4 to 15 ms. The largest page of the service has 10,000.
export const pageBytesMax = 32 * 1024 * 1024;
export const rowsMax = 10_000;

// A collector with texts of the maximum length has about 10 KB.
const rowWeightMax = 64 * 1024;

/**
 * Decodes the rows of a list, in slices of the event loop. It keeps only what the contract knows of a row. A row is null
 * when it is unknown to the contract, too large, or nested too deep.
 */
export async function decodePage<Row>(
  values: readonly unknown[],
  row: z.ZodType<Row>,
  turn: TurnBudget,
): Promise<ListPage<Row>> {
  let weight = 0;
  const rows = await mapInSlices(values, turn, (value) => {
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
