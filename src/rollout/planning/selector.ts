import { compareBuildVersions } from '../../base/build-version.ts';
import { compilePatterns } from '../../base/text-pattern.ts';
import type { FleetCollector } from '../model/collector.ts';
import { type Expectation, evaluateExpectation } from '../model/expectation.ts';
import type { Selection, Selector } from '../model/policy.ts';

/** Makes the rule that tells why a selection leaves a collector out; undefined if it is selected. */
export function compileSelection({
  include,
  exclude,
}: Selection): (collector: FleetCollector) => 'notSelected' | 'excluded' | undefined {
  const includes = compileSelector(include);
  const excludes = exclude.map(compileSelector);
  return (collector) => {
    if (!includes(collector)) return 'notSelected';
    return excludes.some((matches) => matches(collector)) ? 'excluded' : undefined;
  };
}

/** The rule of a selection that leaves a collector out, with its path in the policy's config. */
export interface SelectionRule {
  /** `select.exclude[1]`, or the key of `select.include` that does not match. */
  readonly path: string;
  readonly rule: Selector;
}

/** Finds the rule by which a selection leaves this collector out; undefined if it is selected. */
export function findSelectionRule(
  { include, exclude }: Selection,
  collector: FleetCollector,
): SelectionRule | undefined {
  const missed = partsOf(include).find(({ rule }) => !compileSelector(rule)(collector));
  if (missed !== undefined) return missed;
  const index = exclude.findIndex((rule) => compileSelector(rule)(collector));
  const rule = exclude[index];
  return rule === undefined ? undefined : { path: `select.exclude[${index}]`, rule };
}

/** The part of a selection that leaves no collector of a fleet. */
export type EmptyMatch =
  /** The first key of `select.include` that matches no collector by itself. */
  | { readonly kind: 'key'; readonly rule: SelectionRule }
  | { readonly kind: 'together'; readonly rules: readonly SelectionRule[] }
  | { readonly kind: 'excluded'; readonly included: number }
  | { readonly kind: 'share'; readonly included: number };

/** Finds why a selection that selects none of these collectors does so. */
export function findEmptyMatch(selection: Selection, collectors: readonly FleetCollector[]): EmptyMatch {
  const rules = partsOf(selection.include);
  const unmatched = rules.find(({ rule }) => !collectors.some(compileSelector(rule)));
  if (unmatched !== undefined) return { kind: 'key', rule: unmatched };
  const whyNot = compileSelection(selection);
  const included = collectors.filter((collector) => whyNot(collector) !== 'notSelected');
  if (included.length === 0) return { kind: 'together', rules };
  const isExcluded = included.every((collector) => whyNot(collector) === 'excluded');
  return { kind: isExcluded ? 'excluded' : 'share', included: included.length };
}

/** Splits a selector into one rule for each key; all of them must match. */
function partsOf(include: Selector): SelectionRule[] {
  const { fields, ...rest } = include;
  const partAt = (key: string, rule: Selector) => ({ path: `select.include.${key}`, rule });
  return [
    ...Object.entries(rest).map(([key, value]) => partAt(key, { [key]: value })),
    ...Object.entries(fields ?? {}).map(([key, value]) =>
      partAt(`fields.${key}`, { fields: { [key]: value } }),
    ),
  ];
}

/** Makes the test for a wave's `match`. Without a `match` all collectors pass. */
export function compileMatch(match: Selector | undefined): CollectorTest {
  return match === undefined ? () => true : compileSelector(match);
}

type CollectorTest = (collector: FleetCollector) => boolean;

/**
 * Makes a test from a selector: every given key must match, and a list matches if one entry does (DESIGN §4). The config
 * has refused invalid regular expressions.
 */
function compileSelector(selector: Selector): CollectorTest {
  const keys = Object.keys(makeTest) as ReadonlyArray<keyof Selector>;
  const tests = keys.flatMap((key) => testsOf(key, selector[key]));
  return (collector) => tests.every((test) => test(collector));
}

type Wanted = Required<Selector>;

function testsOf<Key extends keyof Wanted>(key: Key, wanted: Wanted[Key] | undefined): CollectorTest[] {
  return wanted === undefined ? [] : [makeTest[key](wanted)];
}

const ofText =
  (textOf: (collector: FleetCollector) => string) =>
  (patterns: readonly string[]): CollectorTest => {
    const matches = compilePatterns(patterns);
    return (collector) => matches(textOf(collector));
  };

// Exhaustive by type: a key without a test would match every collector (P5).
const makeTest: { readonly [Key in keyof Wanted]: (wanted: Wanted[Key]) => CollectorTest } = {
  name: ofText(({ name }) => name),
  category: ofText(({ category }) => category),
  hostName: ofText(({ hostName }) => hostName),
  osName: ofText(({ osName }) => osName),
  osArch: ofText(({ osArch }) => osArch),
  sourceSyncMode: ofText(({ sourceSyncMode }) => sourceSyncMode),
  fields: (wanted) => {
    const tests = Object.entries(wanted).map(([key, patterns]) =>
      ofText(({ fields }) => (Object.hasOwn(fields, key) ? (fields[key] ?? '') : ''))(patterns),
    );
    return (collector) => tests.every((test) => test(collector));
  },
  id: (wanted) => {
    const ids = new Set(wanted);
    return ({ id }) => ids.has(id);
  },
  version: (wanted) => {
    const ranges = wanted.map(parseVersionRange);
    return ({ build }) => ranges.some((range) => range !== undefined && isInVersionRange(build, range));
  },
  ephemeral:
    (wanted) =>
    ({ ephemeral }) =>
      ephemeral === wanted,
};

/** One comparison of a version range. */
interface VersionBound {
  readonly operator: Expectation['operator'];
  readonly build: string;
}

/** Parses `>=19.361-1 <19.500-1`; all bounds must hold. @returns undefined if the text is not a range */
export function parseVersionRange(range: string): readonly VersionBound[] | undefined {
  const bounds: VersionBound[] = [];
  for (const part of range.trim().split(/\s+/)) {
    const [, operator = '=', build] = /^(<=|>=|<|>|=)?(\d+\.\d+(?:-\d+)?)$/.exec(part) ?? [];
    if (build === undefined) return undefined;
    bounds.push({ operator: operator === '=' ? '==' : (operator as VersionBound['operator']), build });
  }
  return bounds;
}

function isInVersionRange(build: string, bounds: readonly VersionBound[]): boolean {
  return bounds.every(({ operator, build: bound }) => {
    const order = compareBuildVersions(build, bound);
    return order !== undefined && evaluateExpectation({ operator, value: 0 }, order);
  });
}
