import { z } from 'zod';

/**
 * A source of a collector (collector-api.md §2.2). Only what every source has is named; the fields of the many source
 * types pass through untouched.
 */
export const Source = z
  .looseObject({
    id: z.number().int().optional(),
    name: z.string().optional(),
    sourceType: z.string().optional(),
    category: z.string().nullish(),
    hostName: z.string().nullish(),
    alive: z.boolean().optional(),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof Source>;

/** What a source is called: a cloud-to-cloud source states its name in its `config`, any other one beside its type. */
export function sourceNameOf(source: {
  readonly name?: unknown;
  readonly config?: unknown;
}): string | undefined {
  const { name, config } = source;
  const inner = typeof config === 'object' && config !== null && 'name' in config ? config.name : undefined;
  return [name, inner].find((text) => typeof text === 'string');
}

/** Marks a downloaded configuration document (collector-api.md §9). */
export const downloadVersionKey = 'api.version';
