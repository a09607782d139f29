import { describe, expect, it } from 'vitest';
import { makeEventMatcher } from '../../../../src/orchestrator/operations/make-operations.ts';
import { startedAt } from '../../../support/builders.ts';

describe('events by type', () => {
  it.each([
    ['wave.passed', ['wave.passed']],
    ['upgrade', ['upgrade.upgrading', 'upgrade.failed']],
    // The verb as a person typed it.
    ['abort', ['rollout.aborted']],
    ['ed', []],
  ])('%s finds %j', (type, found) => {
    const matches = makeEventMatcher({ type });
    const events = ['rollout.aborted', 'wave.passed', 'upgrade.upgrading', 'upgrade.failed'] as const;
    expect(
      events.filter((event) =>
        matches({ event, at: startedAt, policy: 'web', rollout: 'web-1', reason: '', by: 'ann' }),
      ),
    ).toEqual(found);
  });
});
