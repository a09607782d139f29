import { describe, expect, it } from 'vitest';
import { valueUnder } from '../../../../src/rollout/model/collector.ts';
import { compileMatch } from '../../../../src/rollout/planning/selector.ts';
import { aCollector } from '../../../support/builders.ts';
import { problemsIn, readConfig, withRollout, withSection } from '../../../support/config-fixtures.ts';

describe('a config that is made to hurt', () => {
  const many = (count: number, write: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => write(index));

  const repeated = `x: &x { ${many(1_000, (index) => `u${index}: 1`).join()} }\nhttp: *x\nlog: *x\nredis: *x\ny: *x`;
  it.each([
    ['unknown keys', withSection(many(20_000, (index) => `unknown${index}: 1`).join('\n')), 20_000],
    ['unknown keys that aliases repeat', withSection(repeated), 3_000],
  ])('is refused for its %s, of which it shows the first ones', (_, text, least) => {
    const problems = problemsIn(text);
    expect(problems.length).toBe(51);
    const [, more] = /^and (\d+) more$/.exec(problems.at(-1) ?? '') ?? [];
    expect(Number(more)).toBeGreaterThanOrEqual(least - 50);
  });

  it('is refused for keys that mean something to JavaScript, at any depth', () => {
    const texts = [
      withSection('__proto__: { x: 1 }'),
      withRollout('select: { include: { fields: { __proto__: x } } }'),
      withRollout('select: { exclude: [{ __proto__: { name: "*" } }] }'),
      withRollout('"__proto__": { approval: true }'),
      withRollout('maxInFlightPer: { __proto__: 1 }'),
    ];
    for (const text of texts) expect(problemsIn(text).join()).toContain('__proto__');
    expect(problemsIn(withRollout('constructor: 1')).join()).toContain('constructor');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('may select by a field of any name, which only collectors that have it match', () => {
    const select = 'select: { include: { fields: { constructor: x } } }';
    const keys = 'spreadBy: [fields.constructor]\nmaxInFlightPer: { fields.toString: 1 }';
    const config = readConfig(withRollout(`${select}\n${keys}`));
    const matches = compileMatch(config.rollouts[0]?.select.include ?? {});
    expect(matches(aCollector({ fields: {} }))).toBe(false);
    expect(matches(aCollector({ fields: { constructor: 'x' } }))).toBe(true);
    for (const key of ['fields.constructor', 'fields.__proto__', 'fields.toString'] as const)
      expect(valueUnder(aCollector({ fields: {} }), key)).toBe('');
  });
});
