import { describe, expect, it } from 'vitest';
import { problemsIn, withRollout } from '../../../support/config-fixtures.ts';

const problems = (cron: string) => problemsIn(withRollout(`schedule: ${JSON.stringify(cron)}`));

describe('a schedule', () => {
  it.each([
    '* * * * *',
    '*/15 * * * *',
    '0 0 22 * * *',
    '0,30 8-18/2 1 jan-mar MON',
    '0 0 29 2 *',
    '0 0 * * 7',
    '@daily',
  ])('may be %s', (cron) => {
    expect(problems(cron)).toEqual([]);
  });

  it.each([
    '',
    '* * * *',
    '* * * * * * *',
    '60 * * * *',
    '*/0 * * * *',
    '5/10 * * * *',
    '* * 30 2 *',
    '* * 31 4,6 *',
    `${'1,'.repeat(200)}1 * * * *`,
  ])('may not be %j, which the scheduler refuses, or which never comes due', (cron) => {
    expect(problems(cron)).toHaveLength(1);
  });

  it.each([
    ['*/70 * * * *', 'the step "/70" in its minute field; write a step of at most 59'],
    ['*/90 */5 * * * *', 'the step "/90" in its second field; write a step of at most 59'],
    ['0 */25 * * *', 'the step "/25" in its hour field; write a step of at most 23'],
    ['0 0 1,2-9/32 * *', 'the step "/32" in its day of the month field; write a step of at most 31'],
    ['0 0 * jan-feb/13 *', 'the step "/13" in its month field; write a step of at most 12'],
    ['0 0 * * */8', 'the step "/8" in its day of the week field; write a step of at most 7'],
  ])('may not be %s, whose step is above the range of its field', (cron, message) => {
    expect(problems(cron)).toEqual([expect.stringContaining(message)]);
  });
});
