import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { Count, Instant, listOf, namedObject, rowsOf } from './status-parts.ts';

export const BuildOutcome = namedObject('BuildOutcome', 'What a build did in all ended rollouts to it.', {
  build: z.string(),
  accountName: z
    .string()
    .exactOptional()
    .describe('The name of the account in the config; absent: the config has one account.'),
  tried: Count.describe(
    'Upgrades to the build that succeeded or failed, also those that were rolled back later.',
  ),
  failed: Count,
  rollouts: Count.describe('Ended rollouts in which it was tried.'),
  lastEndedAt: Instant.describe('When the last of them ended.'),
  medianMs: Count.nullable().describe('How long a successful upgrade usually took; null: none succeeded.'),
  strata: rowsOf({ label: z.string(), tried: Count, failed: Count }).describe(
    'What it did in each stratum, those in which the largest share failed first: at most 200.',
  ),
  groups: rowsOf({
    label: z.string().describe('`fields.rack=r7`'),
    attributes: rowsOf({ key: z.string(), value: z.string() }),
    tried: Count,
    failed: Count,
  }).describe(
    'What it did to collectors with the same attributes, which explained failures of this or another build, or were held; most first, at most 50.',
  ),
  text: z.string().describe('The same as a sentence.'),
});
export type BuildOutcome = z.infer<typeof BuildOutcome>;

export const listBuildHistory = defineOperation({
  name: 'listBuildHistory',
  summary: 'List what builds did in ended rollouts',
  route: 'GET /builds',
  answer: {
    status: 200,
    body: z.object({ builds: listOf(BuildOutcome).describe('The newest build first.') }),
  },
  errors: ['unavailable'],
  source: 'KEPT.md: figures of the last 1,000 ended rollouts, which outlive the rollouts themselves',
});
