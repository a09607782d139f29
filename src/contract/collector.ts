import { z } from 'zod';

/**
 * A collector as the service shows it (collector-api.md §2.1). Real answers leave fields out and carry unknown ones
 * (field-facts.md, The wire), so only what identifies a collector is required, and unknown fields are kept. It is written
 * back as it came, so an odd value is refused rather than lost; who only looks reads a `SeenCollector`.
 */
export const Collector = z
  .looseObject({
    id: z.number().int(),
    name: z.string(),
    collectorType: z.string().nullish(),
    description: z.string().nullish(),
    category: z.string().nullish(),
    hostName: z.string().nullish(),
    timeZone: z.string().nullish(),
    /** Texts, says the specification; one odd value must not make a page of a thousand collectors unreadable (P13). */
    fields: z.record(z.string(), z.unknown()).nullish(),
    ephemeral: z.boolean().nullish(),
    sourceSyncMode: z.string().nullish(),
    targetCpu: z.number().nullish(),
    cutoffTimestamp: z.number().nullish(),
    cutoffRelativeTime: z.string().nullish(),
    alive: z.boolean().nullish(),
    lastSeenAlive: z.number().nullish(),
    collectorVersion: z.string().nullish(),
    osName: z.string().nullish(),
    osVersion: z.string().nullish(),
    osArch: z.string().nullish(),
    osTime: z.number().nullish(),
    links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).nullish(),
  })
  .meta({ id: 'Collector' });
export type Collector = z.infer<typeof Collector>;
