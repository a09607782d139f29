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
      'The kind of the reason of a rollout, an upgrade or a stratum; the verdict of a gate; `calendar` where a changed policy moved windows or freezes, else `limits`. Absent: none.',
    ),
  by: z.string().describe('`daemon`, `schedule`, or an operator.'),
  wave: z.string().exactOptional(),
  collectorId: z.number().exactOptional(),
  collectorName: z.string().exactOptional(),
  taskId: z.string().exactOptional(),
  attempt: Count.exactOptional(),
  durationMs: z.number().exactOptional().describe('For an end: since the first create request.'),
  seenDelayMs: z
    .number()
    .exactOptional()
    .describe('The maximum delay after which the end of a task was noticed.'),
  fromBuild: z.string().exactOptional().describe('For a success: the build that was replaced.'),
  failureClass: z.string().exactOptional().describe('For a retry or an end: the class that led to it.'),
});
export type RolloutEventBody = z.infer<typeof RolloutEventBody>;
