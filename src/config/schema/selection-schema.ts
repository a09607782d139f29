import { z } from 'zod';
import { compilePatterns, kindOfPattern, PatternError } from '../../base/text-pattern.ts';
import { parseVersionRange } from '../../rollout/planning/selector.ts';
import { quote } from '../source/config-error.ts';
import { oneOrMany, partOf, type WholeReport } from './value-schemas.ts';

/** A fleet has at most 10,000 collectors (field-facts.md), so no list of them needs more entries. */
const entriesMax = 10_000;

/** Each is compared with the build of each collector. */
const versionRangesMax = 100;

/**
 * The maximum of patterns in all selectors of a policy together. At these bounds, ten thousand collectors take a second, and
 * the leader's lease lasts three. Names without `*` and `?` cost nothing, however many there are.
 */
const globsMax = 1_000;
const regularExpressionsMax = 100;

/** No name is longer. */
const patternCharactersMax = 500;

/** A glob, or `/regex/`, checked to compile. */
const Pattern = z
  .string()
  .min(1, 'is empty; write a glob such as "prod-*", or remove the key')
  .max(patternCharactersMax)
  .superRefine((text, context) => {
    // Only the flag `i` is supported. Any other flag would silently make a glob that matches nothing.
    if (/^\/.*\/[a-z]{1,8}$/s.test(text) && !text.endsWith('/i') && hasOnlyFlags(text)) {
      context.addIssue(
        `${quote(text)} looks like a regular expression with flags other than "i", which are not supported`,
      );
      return;
    }
    try {
      compilePatterns([text]);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      context.addIssue(`${quote(text)} is not a regular expression that upwave runs: ${error.message}`);
    }
  });

function hasOnlyFlags(text: string): boolean {
  return /^[dgimsuvy]+$/.test(text.slice(text.lastIndexOf('/') + 1));
}

const VersionRange = z.string().superRefine((text, context) => {
  if (parseVersionRange(text) !== undefined) return;
  context.addIssue(`${quote(text)} is not a version range; write one such as ">=19.361-1 <19.500-1"`);
});

const patterns = () => oneOrMany(Pattern, entriesMax).exactOptional();

const selectorShape = {
  name: patterns().describe(
    'Names of collectors: case-insensitive globs (`*` any text, `?` one character) or /regular expressions/. A list matches when one entry matches.',
  ),
  category: patterns().describe('Categories of collectors.'),
  hostName: patterns().describe('Host names of collectors.'),
  osName: patterns().describe('Operating systems of collectors, such as "Linux*".'),
  osArch: patterns().describe('Architectures of collectors, such as amd64.'),
  sourceSyncMode: patterns().describe('How collectors get their sources: UI or Json.'),
  id: oneOrMany(z.number().int().min(0), entriesMax).exactOptional().describe('Ids of collectors.'),
  version: oneOrMany(VersionRange, versionRangesMax)
    .exactOptional()
    .describe('The builds that collectors run now, as ranges such as ">=19.361-1 <19.500-1".'),
  ephemeral: z
    .boolean()
    .exactOptional()
    .describe('true: ephemeral collectors only. false: other collectors only.'),
  fields: z
    .record(z.string().min(1), oneOrMany(Pattern, entriesMax))
    .exactOptional()
    .describe('Fields of collectors, each by its name.'),
};
const Include = z
  .strictObject(selectorShape)
  .describe('The collectors to upgrade. All given keys must match. Without keys, every collector matches.');
const Exclude = z
  .strictObject(selectorShape)
  .check(someKey('an empty entry would exclude every collector; remove it'))
  .describe('One group of collectors to leave out: all given keys must match.');

/** Which of the plan's collectors a wave takes. */
export const MatchSchema = z
  .strictObject(selectorShape)
  .check(someKey('is empty, which would take every collector; give a key, or remove it'))
  .describe(
    'Only collectors that match enter the wave. The keys are those of include, and all given keys must match.',
  );

/**
 * After an upgrade through the API, a Mac stays down until it is restarted by hand. A container loses the upgrade when it is
 * replaced (field-facts.md, Upgrades).
 */
const excludeDefault = [{ osName: 'Mac*' }, { name: 'collector_container-*' }];

/** Which collectors a policy upgrades. */
export const SelectionSchema = z
  .strictObject({
    include: Include.prefault({}),
    exclude: z
      .array(Exclude)
      .max(1_000)
      .prefault(excludeDefault)
      .describe(
        'Collectors to leave out: those that match one of the entries. The default leaves out Macs and containers. A given list replaces it, even an empty one.',
      ),
    share: shareSchema()
      .exactOptional()
      .describe(
        'The share of these collectors that the policy upgrades, such as "30%". A hash of the id chooses them: a larger share includes a smaller one, and the others wait until the config has a larger one.',
      ),
  })
  .describe('The collectors of the policy.');

/** A percentage above 0. */
function shareSchema() {
  return z
    .string({
      error: (issue) => (issue.input === undefined ? undefined : 'must be a percentage such as "30%"'),
    })
    .transform((text, context): number => {
      const percent = Number(/^(\d{1,3}(?:\.\d{1,2})?) ?%$/.exec(text.trim())?.[1]);
      if (percent > 0 && percent <= 100) return percent;
      context.addIssue(`${quote(text)} is not a share; write a percentage above 0, such as "30%"`);
      return z.NEVER;
    })
    .meta({ pattern: '^\\d{1,3}(\\.\\d{1,2})? ?%$', examples: ['30%'] });
}

/** Reports a policy with too many patterns that have to be tested one by one. */
export function reportManyPatterns(
  { select, waves }: Readonly<Record<string, unknown>>,
  report: WholeReport,
): void {
  const counts = { exact: 0, glob: 0, regularExpression: 0 };
  const count = (node: unknown): void => {
    if (typeof node === 'string') counts[kindOfPattern(node)] += 1;
    else if (typeof node === 'object' && node !== null) for (const part of Object.values(node)) count(part);
  };
  count(select);
  if (Array.isArray(waves)) for (const wave of waves) count(partOf(wave, 'match'));
  if (counts.glob > globsMax)
    report(
      `the policy has ${counts.glob} globs, and at most ${globsMax} are allowed; write whole names, or fewer and wider globs`,
      ['select'],
    );
  if (counts.regularExpression > regularExpressionsMax)
    report(
      `the policy has ${counts.regularExpression} regular expressions, and at most ${regularExpressionsMax} are allowed; join them with "|", or use globs`,
      ['select'],
    );
}

/** For a selector with a typo in its only key, only the typo is reported, and not an empty selector. */
function someKey(sentence: string) {
  return z.refine<object>((selector) => Object.keys(selector).length > 0, {
    error: sentence,
    when: ({ issues }) => issues.length === 0,
  });
}
