import { z } from 'zod';
import { createCollector, getCollector, getCollectorByName, updateCollector } from './collectors.ts';
import { createSource, getSource, listSources, updateSource } from './sources.ts';

/**
 * A collector as it came, whatever its values are, but for what it is known by: it may be written back, and what we do not
 * understand must not get lost on the way (P13).
 */
export const KeptCollector = z.looseObject({ id: z.number().int(), name: z.string() });
export type KeptCollector = z.infer<typeof KeptCollector>;

/** The same of a source. */
export const KeptSource = z.looseObject({ id: z.number().int().optional() });
export type KeptSource = z.infer<typeof KeptSource>;

const collectorBody = z.object({ collector: KeptCollector });
const sourceBody = z.object({ source: KeptSource });

// A document is for a file, and no daemon reads one.
const documentBytesMax = 32 * 1024 * 1024;
const document = { status: 200, body: z.looseObject({}), bytesMax: documentBytesMax } as const;

/** The operations on one resource, for who may write it back. */
export const readCollector = { ...getCollector, answer: { status: 200, body: collectorBody } } as const;
export const readCollectorByName = {
  ...getCollectorByName,
  answer: { status: 200, body: collectorBody },
} as const;
export const writeCollector = { ...updateCollector, answer: { status: 200, body: collectorBody } } as const;
export const makeCollector = { ...createCollector, answer: { status: 201, body: collectorBody } } as const;
export const readSource = { ...getSource, answer: { status: 200, body: sourceBody } } as const;
export const writeSource = { ...updateSource, answer: { status: 200, body: sourceBody } } as const;
export const makeSource = { ...createSource, answer: { status: 201, body: sourceBody } } as const;
export const downloadSources = { ...listSources, answer: document };
export const downloadSource = { ...getSource, answer: document };
