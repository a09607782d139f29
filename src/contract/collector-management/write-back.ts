import { z } from 'zod';
import { createCollector, getCollector, getCollectorByName, updateCollector } from './collectors.ts';
import { createSource, getSource, listSources, updateSource } from './sources.ts';

/**
 * A collector with its values unchecked, except for those that identify it. It may be written back, and unknown values must
 * not get lost (P13).
 */
export const KeptCollector = z.looseObject({ id: z.number().int(), name: z.string() });
export type KeptCollector = z.infer<typeof KeptCollector>;

/** A source, in the same way. */
export const KeptSource = z.looseObject({ id: z.number().int().optional() });
export type KeptSource = z.infer<typeof KeptSource>;

const collectorBody = z.object({ collector: KeptCollector });
const sourceBody = z.object({ source: KeptSource });

// A document is written to a file. No daemon reads one.
const documentBytesMax = 32 * 1024 * 1024;
const document = { status: 200, body: z.looseObject({}), bytesMax: documentBytesMax } as const;

/** The operations on one resource for code that may write it back. */
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
