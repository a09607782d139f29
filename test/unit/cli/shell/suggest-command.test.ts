import { describe, expect, it } from 'vitest';
import { callUpwave } from '../../../support/night/upwave-call.ts';

describe('a mistyped command', () => {
  it.each([
    ['pasue', 'pause'],
    ['paus', 'pause'],
    ['hodl', 'hold'],
    ['stauts', 'status'],
    ['evnets', 'events'],
    ['sources lst', 'list'],
    ['config chekc', 'check'],
    ['reherse', 'rehearse'],
    // These ask before they act.
    ['rollbak production', 'rollback'],
    ['aprove', 'approve'],
    ['resmue', 'resume'],
    ['skip-sock', 'skip-soak'],
    ['retyr', 'retry'],
    ['strt', 'start'],
  ])('%s leads to %s', async (words, meant) => {
    const { code, err } = await callUpwave(...words.split(' '));
    expect(err).toMatch(/^error: unknown command '\S+'\n/);
    expect(err).toContain(`\n(Did you mean ${meant}?)`);
    expect(code).toBe(2);
  });

  it.each([
    ...['abrot', 'relase', 'relaod', 'rnu'],
    ...['delet', 'delete-ofline', 'updte', 'crate'].map((slip) => `collectors ${slip}`),
    'sources delte',
  ])('%s is not guessed, because the near command acts without a question', async (words) => {
    const { code, err } = await callUpwave(...words.split(' '));
    expect(err).toMatch(/unknown command '.+'\n/);
    expect(err).not.toContain('Did you mean');
    expect(code).toBe(2);
  });

  it('is one line of JSON with --json', async () => {
    const { err } = await callUpwave('pasue', '--json');
    expect(JSON.parse(err).error).toEqual({
      exitCode: 2,
      message: "unknown command 'pasue'\n(Did you mean pause?)",
    });
  });
});
