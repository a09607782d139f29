import { z } from 'zod';
import { upgradeFailureClasses } from '../../base/vocabulary.ts';
import { defineOperation } from '../operation.ts';
import { RolloutStatus } from './rollout-status.ts';
import { rolloutId } from './rollouts.ts';
import { listOf, namedObject, rowsOf, ShownLeftBehind, WindowStatus, WorkEstimate } from './status-parts.ts';
import { VerbBody, whyAndWho } from './verb-body.ts';

const Count = z.number().int().nonnegative();

/** The numbers of a preview, which the request repeats (P15). */
const ShownRollback = namedObject('ShownRollback', 'The numbers of the preview that is confirmed.', {
  collectors: Count.describe('Collectors that go back, as they were shown.'),
  leftBehind: Count.describe('Collectors that stay, as they were shown.'),
});
export type ShownRollback = z.infer<typeof ShownRollback>;

const RollbackPreview = namedObject('RollbackPreview', 'What a rollback would do now.', {
  rollout: z.string(),
  collectors: Count.describe('Collectors that go back.'),
  running: Count.describe('How many of these are still being upgraded. Each of these upgrades ends first.'),
  uncertain: Count.describe(
    'How many of these never showed the build. They go back only if they show it by then.',
  ),
  mayGrowBy: Count.describe(
    'The request is accepted while at most so many more collectors go back, or stay, than were shown.',
  ),
  builds: rowsOf({ build: z.string(), count: Count }).describe(
    'The builds that they go back to, most frequent first.',
  ),
  leftBehind: listOf(ShownLeftBehind),
  waves: rowsOf({
    name: z.string(),
    size: Count.nullable().describe('The maximum size; null: known once it is planned.'),
    soakMs: z.number(),
    maxFailures: z.string().describe('As written in the config: `1%`.'),
  }),
  concurrency: Count,
  caps: rowsOf({ key: z.string(), cap: Count }),
  perHour: Count.nullable().describe('How many start in an hour, by the pace of the policy; null: no pace.'),
  window: WindowStatus.nullable().describe('null: upgrades may start at any time.'),
  estimate: WorkEstimate.describe('How long it takes.'),
  estimateNow: WorkEstimate.describe('How long it takes if it ignores windows, freezes and pace.'),
});
export type RollbackPreview = z.infer<typeof RollbackPreview>;

const textLengthMax = 200;
const failureWordLengthMax = 500;
/** So many ids fit into a body. */
const chosenMax = 1_000;

const named = (description: string, missing: string) =>
  z.string(missing).trim().min(1).max(textLengthMax).describe(description);

/** @param missing the error for a request without a body, or without what it must name */
const naming = <Shape extends z.ZodRawShape>(missing: string, shape: Shape) =>
  z.object({ ...whyAndWho, ...shape }, missing);

const toResume = 'name the hold: `hold` of GET /rollouts/{id}';
const ResumeBody = naming(toResume, {
  hold: z.int(toResume).describe('The current hold or pause, `hold` of the rollout. Another one is refused.'),
});

const toApprove = 'name either the `wave` or the `planHash` to approve';
const ApproveBody = z.xor(
  [
    naming(toApprove, { wave: named('The wave that waits. Another one is refused.', toApprove) }),
    naming(toApprove, { planHash: named('The plan that waits. Another one is refused.', toApprove) }),
  ],
  toApprove,
);

const toSkipSoak = 'name the `wave`';
const SkipSoakBody = naming(toSkipSoak, {
  wave: named('The wave that soaks. Another one is refused.', toSkipSoak),
});

const toRetry = 'state how many collectors were shown as `failed`';
const RetryBody = naming(toRetry, {
  failed: z
    .int(toRetry)
    .min(0)
    .describe('How many collectors were shown as failed. If more have failed by now, this is refused.'),
  cause: z
    .string()
    .trim()
    .min(1)
    .max(failureWordLengthMax)
    .exactOptional()
    .describe(
      `Only failures of this class (${upgradeFailureClasses.join(', ')}), or with these words in their reason.`,
    ),
  collectorIds: z
    .array(z.int().nonnegative())
    .min(1)
    .max(chosenMax)
    .readonly()
    .exactOptional()
    .describe('Only failures of these collectors.'),
});

const RollbackBody = z
  .object({
    ...whyAndWho,
    shown: ShownRollback.exactOptional().describe(
      'The numbers that the preview showed (`rollback-preview`). A request with other numbers is refused.',
    ),
    now: z
      .boolean()
      .default(false)
      .describe('Start also outside the windows and inside the freezes of the policy, and without its pace.'),
  })
  .prefault({});

/** A verb is in force when its response arrives: after `pause` and `abort` no create is sent by any daemon (P4). */
const verb = <const Name extends string, Body>({
  segment,
  ...draft
}: {
  readonly name: Name;
  readonly summary: string;
  readonly segment: string;
  readonly body: z.ZodType<Body>;
  readonly source: string;
}) =>
  defineOperation({
    ...draft,
    route: `POST /rollouts/{id}/${segment}`,
    params: rolloutId,
    answer: { status: 200, body: RolloutStatus },
    errors: ['notFound', 'refused', 'unavailable'],
    // Repeating a verb changes nothing (DESIGN §5, HTTP).
    idempotent: true,
  });

export const pauseRollout = verb({
  name: 'pauseRollout',
  summary: 'Pause a rollout',
  segment: 'pause',
  body: VerbBody,
  source: 'P4: starts nothing more; running upgrades are watched to their end',
});
export const resumeRollout = verb({
  name: 'resumeRollout',
  summary: 'Resume a rollout after a pause or a hold',
  segment: 'resume',
  body: ResumeBody,
  source:
    'DESIGN §5, P15: continues after a pause or a hold; the failures so far no longer count, and the limit stays',
});
export const approveRollout = verb({
  name: 'approveRollout',
  summary: 'Approve a plan or a wave',
  segment: 'approve',
  body: ApproveBody,
  source:
    'P14, P15: approves the plan, after reading the fleet again, or the wave that waits; may take minutes',
});
export const skipRolloutSoak = verb({
  name: 'skipRolloutSoak',
  summary: 'End the soak of a wave',
  segment: 'skip-soak',
  body: SkipSoakBody,
  source: 'DESIGN §5: ends the soak of a wave; its gates are still checked',
});
export const abortRollout = verb({
  name: 'abortRollout',
  summary: 'Abort a rollout',
  segment: 'abort',
  body: VerbBody,
  source: 'P4: ends the rollout; running upgrades are watched to their end',
});
export const rollBackRollout = verb({
  name: 'rollBackRollout',
  summary: 'Roll a rollout back',
  segment: 'rollback',
  body: RollbackBody,
  source: 'DESIGN §4, Rollback: returns each collector to its previous build, a canary first',
});
export const previewRollback = defineOperation({
  name: 'previewRollback',
  summary: 'Preview a rollback',
  route: 'GET /rollouts/{id}/rollback-preview',
  params: rolloutId,
  answer: { status: 200, body: RollbackPreview },
  errors: ['notFound', 'refused', 'unavailable'],
  source: 'P15: what a rollback would do now; the request names its numbers',
});
export const retryRollout = verb({
  name: 'retryRollout',
  summary: 'Retry the failed collectors of a rollout',
  segment: 'retry',
  body: RetryBody,
  source: 'DESIGN §5: upgrades its failed collectors again',
});
