import { z } from 'zod';
import { invariant } from '../../base/assert.ts';
import { nearestText } from '../../base/names.ts';
import type { CapRule, CollectorKey } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { wholeListCheck, wholeNumber } from './value-schemas.ts';

const plainKeys = [
  'osName',
  'osArch',
  'collectorVersion',
  'category',
  'hostName',
  'timeZone',
  'sourceSyncMode',
  'ephemeral',
] as const satisfies readonly CollectorKey[];

/** Synonyms that are too different for a comparison of letters. */
const otherNames: Readonly<Record<string, CollectorKey>> = {
  version: 'collectorVersion',
  build: 'collectorVersion',
  os: 'osName',
  arch: 'osArch',
};

/** Caps in the order of the file. */
export const CapsSchema = z
  .record(keyText(), wholeNumber(1, 10_000))
  .default({})
  .transform((caps): CapRule[] => Object.entries(caps).map(([key, cap]) => ({ key: knownKey(key), cap })))
  .describe(
    'How many upgrades may run at the same time among collectors that share a value. "fields.cluster: 1" allows one for each cluster.',
  );

/** The keys by which collectors are divided into strata. */
export const SpreadBySchema = z
  .array(keyText())
  .max(20)
  .check(
    wholeListCheck((keys, report) => {
      keys.forEach((key, index) => {
        if (typeof key === 'string' && keys.indexOf(key) < index)
          report(`${quote(key)} is listed twice; keep one`, [index]);
      });
    }),
  )
  .default(['osName', 'osArch', 'collectorVersion'])
  .transform((keys) => keys.map(knownKey))
  .describe('Collectors which are alike in these keys form a stratum. Each wave is spread over the strata.');

/** Created for each use, because only the schema of a value may be a variable in the JSON Schema. */
function keyText() {
  return z
    .string()
    .superRefine((text, context) => {
      if (parseKey(text) === undefined) context.addIssue(explainUnknown(text));
    })
    .meta({ pattern: `^(${plainKeys.join('|')}|fields\\..+)$` });
}

function parseKey(text: string): CollectorKey | undefined {
  const plain = plainKeys.find((key) => key === text);
  if (plain !== undefined) return plain;
  const field = /^fields\.(.+)$/s.exec(text)?.[1];
  return field === undefined ? undefined : `fields.${field}`;
}

function knownKey(text: string): CollectorKey {
  const key = parseKey(text);
  invariant(key !== undefined, 'the schema takes known keys only');
  return key;
}

function explainUnknown(text: string): string {
  const otherName = Object.hasOwn(otherNames, text) ? otherNames[text] : undefined;
  // A field's own name may be anything, so it is not compared.
  const nearest = /^fields?\b/i.test(text) ? 'fields.<name>' : (otherName ?? nearestText(text, plainKeys));
  const hint =
    nearest === undefined
      ? `known here: ${plainKeys.join(', ')}, fields.<name>`
      : `did you mean ${quote(nearest)}?`;
  return `unknown key ${quote(text)}; ${hint}`;
}
