import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configOf } from '../../../../src/config/load/load-config.ts';
import { ConfigError } from '../../../../src/config/source/config-error.ts';
import { parseYaml } from '../../../../src/config/source/yaml-source.ts';

const valid = readFileSync(new URL('../../../../config/production.yaml', import.meta.url), 'utf8');
const environment = { UPWAVE_ACCESS_ID: 'the-id', UPWAVE_ACCESS_KEY: 'hunter2-secret' };

/** Reads it; anything but a config or a ConfigError with a place for each problem fails the test. */
function read(text: string): 'config' | 'refused' {
  try {
    configOf(parseYaml(text, 'f.yaml'), environment);
    return 'config';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const problem of error.problems) expect(problem.message).toMatch(/\S/);
    expect(error.message).not.toContain('hunter2');
    return 'refused';
  }
}

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('', '*', '${UPWAVE_ACCESS_KEY}', '${NOPE}', '$${', '/(/', '30s', '5%', '-1', '1e999'),
  fc.constantFrom('__proto__', 'constructor', '\u0000', '\ud800'),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e308, 2 ** 60, undefined),
  fc.string(),
);

describe('a config changed at random', () => {
  it('is read or refused with reasons, whatever value is anywhere', () => {
    const source = parseYaml(valid, 'f.yaml').value;
    const paths = pathsOf(source);
    expect(paths.length).toBeGreaterThan(80);
    let refusedCount = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...paths), anyValue), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const copy = structuredClone(source);
          for (const [path, value] of changes) setAt(copy, path, value);
          if (read(stringify(copy)) === 'refused') refusedCount += 1;
        },
      ),
      { numRuns: 120 },
    );
    expect(refusedCount).toBeGreaterThan(40);
  });

  it('is read or refused with reasons, whatever character is anywhere', () => {
    const marks = [...'\n\t:{}[]*!"|>#%'.split(''), "'", '- ', '&a ', '${', '\n---\n', '<<: '];
    const fragment = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom(...marks));
    fc.assert(
      fc.property(fc.nat({ max: valid.length }), fc.nat({ max: 8 }), fragment, (start, length, text) => {
        read(valid.slice(0, start) + text + valid.slice(start + length));
      }),
      { numRuns: 120 },
    );
  });
});

function pathsOf(node: unknown): PropertyKey[][] {
  if (typeof node !== 'object' || node === null) return [];
  const keys: PropertyKey[] = Array.isArray(node) ? [...node.keys()] : Object.keys(node);
  return keys.flatMap((key) => [[key], ...pathsOf(Reflect.get(node, key)).map((rest) => [key, ...rest])]);
}

function setAt(root: unknown, path: readonly PropertyKey[], value: unknown): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    if (typeof node !== 'object' || node === null) return;
    node = Reflect.get(node, key);
  }
  const last = path.at(-1);
  if (typeof node === 'object' && node !== null && last !== undefined) Reflect.set(node, last, value);
}
