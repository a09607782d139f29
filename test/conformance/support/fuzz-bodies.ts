import fc from 'fast-check';
import { Collector } from '../../../src/contract/collector-management/collectors.ts';
import { Source } from '../../../src/contract/collector-management/sources.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { oddJson, oddText, oneOf } from './fuzz-texts.ts';

/** How a fuzzed name begins, so that most creates are of few names. */
const plainNames = Array.from({ length: 40 }, (_none, index) => `fuzz-${index}`);

/** A value that suits most fields of this name. */
function plainValue(field: string): fc.Arbitrary<unknown> {
  switch (field) {
    case 'name':
      return fc.constantFrom(...plainNames);
    case 'collectorType':
      return fc.constantFrom('Hosted', 'Hosted', 'Hosted', 'Installable');
    case 'sourceType':
      return fc.constantFrom('HTTP', 'LocalFile', 'SystemStats', 'Universal', 'VendorOAuth');
    case 'fields':
      return fc.dictionary(fc.constantFrom('team', 'environment', '_budget'), fc.constantFrom('a', 'b'));
    case 'ephemeral':
    case 'alive':
      return fc.boolean();
    case 'id':
    case 'targetCpu':
    case 'cutoffTimestamp':
      return fc.integer({ min: -1, max: 100 });
    default:
      return fc.constantFrom('plain', null, 'Etc/UTC');
  }
}

/** A statement of some of these fields: mostly plain, here and there hostile, sometimes with a key that no one knows. */
function statement(fields: readonly string[], always: readonly string[]): fc.Arbitrary<object> {
  const values = Object.fromEntries(
    fields.map((field) => [field, oneOf([4, plainValue(field)], [1, oddJson])]),
  );
  return fc
    .tuple(
      fc.record(values, { requiredKeys: [...always] }),
      fc.option(fc.tuple(oddText, oddJson), { nil: undefined, freq: 5 }),
    )
    .map(([known, unknown]) => (unknown === undefined ? known : { ...known, [unknown[0]]: unknown[1] }));
}

const collector = statement(Object.keys(Collector.shape), ['name', 'collectorType']);
const source = statement(
  [...Object.keys(Source.shape), 'filters', 'cutoffTimestamp', 'interval', 'metrics', 'pathExpression'],
  ['name', 'sourceType'],
);

/** Bodies that an operation's contract describes, and ones near them. */
export function bodyOf(operation: Operation, knownIds: fc.Arbitrary<number>): fc.Arbitrary<unknown> {
  if (operation.name.endsWith('Collector')) return fc.record({ collector: fc.oneof(collector, oddJson) });
  if (operation.name.endsWith('Source')) return fc.record({ source: fc.oneof(source, oddJson) });
  if (operation.name === 'createUpgradeTask') {
    return fc.record(
      {
        collectorId: oneOf<unknown>([3, knownIds], [1, oddJson]),
        toVersion: oneOf<unknown>([3, fc.constantFrom('19.536-4', '19.441-2', '')], [1, oddJson]),
      },
      { requiredKeys: [] },
    );
  }
  return oddJson;
}

// JSON.parse goes down one level of the stack for each; no honest body has more than a handful.
const depthMax = 20_000;

/** The text of a body: as JSON has it, or cut, spoilt, deep, huge, polluted. */
export function bodyText(body: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const text = body.map((value) => JSON.stringify(value) ?? '');
  const pollution = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},';
  const brackets = fc.constantFrom(['[', ']'], ['{"collector":', '}'], ['{"source":', '}']);
  return oneOf(
    [20, text],
    [2, fc.tuple(text, fc.nat(200)).map(([whole, at]) => whole.slice(0, at % (whole.length + 1)))],
    [1, text.map((whole) => `\ufeff${whole}`)],
    [1, text.map((whole) => whole.replaceAll('"', "'"))],
    [1, text.map((whole) => `${whole}${whole}`)],
    [1, text.map((whole) => whole.replace('{', pollution))],
    [1, oddText],
    [
      1,
      fc
        .tuple(fc.nat(depthMax), brackets)
        .map(([depth, [open = '', close = '']]) => `${open.repeat(depth)}1${close.repeat(depth)}`),
    ],
  );
}
