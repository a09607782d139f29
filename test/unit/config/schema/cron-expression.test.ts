import fc from 'fast-check';
import cron from 'node-cron';
import { describe, expect, it } from 'vitest';
import { isCronExpression } from '../../../../src/config/schema/cron-expression.ts';

describe('isCronExpression', () => {
  it.each([
    '* * * * *',
    '*/15 * * * *',
    '0 0 22 * * *',
    '0,30 8-18/2 1 jan-mar MON',
    ' 5  4 * * sun ',
    '0 0 29 2 *',
    '0 0 31 1,2 *',
    '0 0 * * 7',
  ])('takes %s', (text) => {
    expect(isCronExpression(text)).toBe(true);
  });

  it.each([
    '',
    '* * * *',
    '* * * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    '5/10 * * * *',
    'x * * * *',
    '1,,2 * * * *',
    '* * 30 2 *',
    '* * 31 4,6 *',
    '-1 * * * *',
    '1.5 * * * *',
    '* * * jan1 *',
    '@daily',
  ])('refuses %j', (text) => {
    expect(isCronExpression(text)).toBe(false);
  });

  it('takes nothing that the scheduler would refuse', () => {
    const value = fc.oneof(
      fc.constant('*'),
      fc.integer({ min: -1, max: 62 }).map(String),
      fc.constantFrom('jan', 'dec', 'mon', 'sun', 'sat', 'L', '?', ''),
    );
    const part = fc
      .tuple(value, fc.option(value), fc.option(fc.integer({ min: 0, max: 70 })))
      .map(([from, to, step]) => `${from}${to === null ? '' : `-${to}`}${step === null ? '' : `/${step}`}`);
    const field = fc.oneof(
      { weight: 3, arbitrary: fc.constant('*') },
      { weight: 3, arbitrary: value },
      {
        weight: 2,
        arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
      },
    );
    let takenCount = 0;
    fc.assert(
      fc.property(fc.array(field, { minLength: 5, maxLength: 6 }), (fields) => {
        const text = fields.join(' ');
        if (!isCronExpression(text)) return;
        takenCount += 1;
        expect(cron.validate(text), text).toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(takenCount).toBeGreaterThan(100);
  });
});
