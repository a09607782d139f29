import { z } from 'zod';
import { Instant, UpgradeStateName } from './rollout-status.ts';

/** Why a collector is not upgraded right now, and when it may be: once for each policy. */
export const CollectorExplanationBody = z
  .object({
    collectorId: z.number(),
    collectorName: z.string(),
    build: z.string().meta({ description: 'The build it runs.' }),
    explanations: z
      .array(
        z.object({
          policy: z.string(),
          rollout: z.string().nullable().meta({ description: 'The one on the way; null: none is.' }),
          wave: z.string().nullable().meta({ description: 'null: it is not in the plan.' }),
          state: UpgradeStateName.nullable(),
          reason: z.string(),
          until: Instant.nullable().meta({ description: 'When that may change, where it is known.' }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'CollectorExplanation', description: 'Where a collector stands with each policy, and why.' });
export type CollectorExplanationBody = z.infer<typeof CollectorExplanationBody>;
