import { describe, expect, it } from 'vitest';
import { defaultHistoryMs } from '../../../../src/redis/schema/rollout-keys.ts';
import { problemsOf, readConfig, withSection } from '../../../support/config-fixtures.ts';

const historyOf = (yaml: string) => readConfig(withSection(yaml)).historyMs;

describe('history', () => {
  it('is 90 days unless the file says otherwise', () => {
    expect(historyOf('')).toBe(90 * 86_400_000);
    expect(historyOf('')).toBe(defaultHistoryMs);
    expect(historyOf('history: 14d')).toBe(14 * 86_400_000);
    expect(historyOf('history: 24h')).toBe(86_400_000);
  });

  it.each([
    ['history: 23h', 'config.yaml:3:10 history: must be at least 1d'],
    ['history: 400d', 'config.yaml:3:10 history: must be at most 366d'],
    ['history: 90', 'config.yaml:3:10 history: must be a duration such as 30s, 15m or 12h'],
  ])('refuses %s', (yaml, problem) => {
    expect(problemsOf(() => historyOf(yaml))).toEqual([problem]);
  });
});

describe('installation', () => {
  it('has no name unless the file gives one, which can be a label', () => {
    const installationOf = (yaml: string) => readConfig(withSection(yaml)).installation;
    expect(installationOf('')).toBeUndefined();
    expect(installationOf('installation: production')).toBe('production');
    expect(problemsOf(() => installationOf('installation: "Our Own"'))).toEqual([
      'config.yaml:3:15 installation: must be 1 to 63 small letters, digits or "-", and start with a letter or digit',
    ]);
  });
});
