import { z } from 'zod';
import { LeftBehindBody, WindowStatusBody } from './rollout-status.ts';

const Count = z.number().int().nonnegative();

/** Of a preview, what the request names (P15). */
export const ShownRollbackBody = z
  .object({
    collectors: Count.meta({ description: 'Collectors that go back, as they were shown.' }),
    leftBehind: Count.meta({ description: 'Collectors that stay, as they were shown.' }),
  })
  .meta({ id: 'ShownRollback', description: 'The numbers of the preview that is confirmed.' });

export const RollbackPreviewBody = z
  .object({
    rollout: z.string(),
    collectors: Count.meta({ description: 'Collectors that go back.' }),
    running: Count.meta({
      description: 'How many of these are still being upgraded; each of these upgrades ends first.',
    }),
    unconfirmed: Count.meta({
      description: 'How many of these never showed the build; they go back only where they show it by then.',
    }),
    mayGrowBy: Count.meta({
      description: 'So many more than were shown may go back, or stay, without the request being refused.',
    }),
    builds: z
      .array(z.object({ build: z.string(), count: Count }))
      .readonly()
      .meta({ description: 'The builds that they go back to, most frequent first.' }),
    leftBehind: z.array(LeftBehindBody).readonly(),
    waves: z
      .array(
        z.object({
          name: z.string(),
          size: Count.nullable().meta({ description: 'At most so many; null: known once it is planned.' }),
          soakMs: z.number(),
          maxFailures: z.string().meta({ description: 'As written in the config: `1%`.' }),
        }),
      )
      .readonly(),
    concurrency: Count,
    caps: z.array(z.object({ key: z.string(), cap: Count })).readonly(),
    window: WindowStatusBody.nullable().meta({ description: 'null: it may start at any time.' }),
  })
  .meta({ id: 'RollbackPreview', description: 'What a rollback would do now.' });
export type RollbackPreviewBody = z.infer<typeof RollbackPreviewBody>;
