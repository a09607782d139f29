import { describe, expect, it } from 'vitest';
import { differenceText } from '../../../../src/rollout/messages/config-texts.ts';
import { comparePolicies } from '../../../../src/rollout/reload/policy-difference.ts';
import { aPolicy } from '../../../support/builders.ts';

describe('the differences of two configs', () => {
  it('name each nested value by its path in the file, with durations as they are written there', () => {
    const before = aPolicy({
      retry: { maxAttempts: 3, backoff: { initialMs: 60_000, factor: 2, maxMs: 3_600_000, jitter: 0.2 } },
    });
    const after = {
      ...before,
      retry: { maxAttempts: 5, backoff: { ...before.retry.backoff, initialMs: 90_000 } },
      target: { ...before.target, minimumAgeMs: before.target.minimumAgeMs + 86_400_000 },
    };
    expect(differenceText(comparePolicies(before, after))).toBe(
      'target.minimumAge 0s → 1d, retry.maxAttempts 3 → 5, retry.backoff.initial 1m → 1m30s',
    );
  });

  it('show lists, selectors and message rules in words', () => {
    const before = aPolicy({ spreadBy: ['osName'] });
    const after = aPolicy({
      spreadBy: ['osName', 'fields.rack'],
      select: {
        include: { osName: ['Linux*', 'Windows*'], fields: { rack: ['r7'] } },
        exclude: [{ ephemeral: true }, { name: ['db-*'] }],
      },
      messageRules: [{ words: ['disk full', 'no space'], class: 'retryLater' }],
    });
    expect(differenceText(comparePolicies(before, after))).toBe(
      'spreadBy osName → osName, fields.rack, ' +
        'select.include none → osName: Linux* or Windows*, fields.rack: r7, ' +
        'select.exclude none → ephemeral: true; name: db-*, ' +
        'messageRules none → disk full or no space: retryLater',
    );
  });

  it('are found where two values have the same text', () => {
    const before = aPolicy({ select: { include: { name: ['a', 'b'] }, exclude: [] } });
    const after = aPolicy({ select: { include: { name: ['a or b'] }, exclude: [] } });
    expect(comparePolicies(before, after).map(({ key }) => key)).toEqual(['select.include']);
  });
});
