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
});
