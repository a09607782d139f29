import { z } from 'zod';
import { Count, Instant, namedObject } from './status-parts.ts';

export const RolloutEventBody = namedObject('RolloutEvent', 'One event: who, what, why, when.', {
  at: Instant,
  event: z.string().describe('Dotted, past tense: `upgrade.succeeded`.'),
  policy: z.string(),
  rollout: z.string(),
  reason: z.string(),
  reasonKind: z
    .string()
    .exactOptional()
    .describe(
      'The kind of the reason of a rollout, an upgrade or a stratum; the verdict of a gate. Absent: none.',
    ),
  by: z.string().describe('`daemon`, `schedule`, or an operator.'),
  wave: z.string().exactOptional(),
  collectorId: z.number().exactOptional(),
  collectorName: z.string().exactOptional(),
  taskId: z.string().exactOptional(),
  attempt: Count.exactOptional(),
  durationMs: z.number().exactOptional(),
  seenDelayMs: z.number().exactOptional(),
  fromBuild: z.string().exactOptional(),
  failureClass: z.string().exactOptional(),
});
export type RolloutEventBody = z.infer<typeof RolloutEventBody>;
