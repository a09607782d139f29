import { describe, expect, it } from 'vitest';
import { rolloutReasonText } from '../../../../src/rollout/messages/rollout-reasons.ts';
import {
  classifyCreateFailure,
  classifyPollFailure,
  classifyTaskMessage,
  describeFailure,
  type FailureClass,
  isUnreached,
  type ServiceFailure,
} from '../../../../src/rollout/upgrade/failure-classes.ts';

const refused = (code: string): ServiceFailure => ({ kind: 'refused', code, detail: '' });

describe('what a failed create means (DESIGN §4)', () => {
  const rows: ReadonlyArray<[string, ServiceFailure, FailureClass]> = [
    ['a connect error: nothing left', { kind: 'unavailable', sent: false, detail: '' }, 'again'],
    [
      'a time-out, 5xx or HTML page: it may have been acted on',
      { kind: 'unavailable', sent: true, detail: '' },
      'inDoubt',
    ],
    ['429', { kind: 'throttled', detail: '' }, 'again'],
    ['401 after the key has worked', { kind: 'signInThrottled', retryAfterMs: 60_000, detail: '' }, 'again'],
    ['401 on the first call, 403, 415, 301', { kind: 'misconfigured', detail: '' }, 'hold'],
    ['collector.not.alive', refused('collector.not.alive'), 'defer'],
    ['collector.in.upgrading', refused('collector.in.upgrading'), 'adopt'],
    ['collector.invalid', refused('collector.invalid'), 'observe'],
    ['collector.invalid by its other documented name', refused('InvalidCollector'), 'observe'],
    ['404 of a collector', { kind: 'notFound', detail: '' }, 'observe'],
    ['collector.type.invalid', refused('collector.type.invalid'), 'permanent'],
    ['collector.type.invalid by its other name', refused('InvalidCollectorType'), 'permanent'],
    ['collector.version.invalid', refused('collector.version.invalid'), 'observe'],
    ['an unknown code (P13)', refused('collector.on.fire'), 'retry'],
    ['stopped by us before it left', { kind: 'cancelled', sent: false }, 'again'],
    ['stopped by us while it was out', { kind: 'cancelled', sent: true }, 'inDoubt'],
  ];
  it.each(rows)('%s', (_, failure, expected) => {
    expect(classifyCreateFailure(failure)).toBe(expected);
  });
});

describe('the meaning of a failed poll', () => {
  it.each<[ServiceFailure, string]>([
    [{ kind: 'unavailable', sent: true, detail: '' }, 'again'],
    [{ kind: 'throttled', detail: '' }, 'again'],
    [{ kind: 'signInThrottled', retryAfterMs: 60_000, detail: '' }, 'again'],
    [{ kind: 'misconfigured', detail: '' }, 'hold'],
    [{ kind: 'notFound', detail: '' }, 'gone'],
  ])('%o means %s', (failure, expected) => {
    expect(classifyPollFailure(failure)).toBe(expected);
  });
});

describe('whether the service could be reached', () => {
  it.each<[string, ServiceFailure, boolean]>([
    ['no answer', { kind: 'unavailable', sent: true, isUnreached: true, detail: '' }, true],
    ['an answer of no use', { kind: 'unavailable', sent: true, detail: '' }, false],
    ['401', { kind: 'signInThrottled', retryAfterMs: 60_000, detail: '' }, false],
  ])('%s', (_what, failure, expected) => {
    expect(isUnreached(failure)).toBe(expected);
  });

  it('is followed by what to do only when a rollout is held', () => {
    const failure: ServiceFailure = { kind: 'misconfigured', detail: 'The key is wrong. Check it.' };
    expect(describeFailure(failure)).toBe('The key is wrong. Check it.');
    expect(rolloutReasonText({ kind: 'serviceRefuses', detail: describeFailure(failure) })).toBe(
      'The key is wrong. Check it. Then resume.',
    );
  });
});

describe('what the message of a failed task means (DESIGN §4)', () => {
  it.each([
    ['Upgrade timed out on the collector', 'retry'],
    ['The download of the build failed', 'retry'],
    ['NETWORK unreachable', 'retry'],
    ['Not enough disk space', 'retryLater'],
    ['file is in use by another process', 'retryLater'],
    ['Unable to remove files', 'retryLater'],
    ['Permission denied', 'permanent'],
    ['upgrade is not supported on this platform', 'permanent'],
    ['remote upgrade is disabled', 'permanent'],
    ['permission denied while downloading', 'permanent'],
    ['upgrade is not possible on this machine', 'permanent'],
    ['the collector runs as a non-root user', 'permanent'],
    ['it must be run as root', 'permanent'],
    ['insufficient privileges', 'permanent'],
    ['Administrator rights are required', 'permanent'],
    ['timed out while checking privileges', 'retry'],
    ['time-out while checking privileges', 'retry'],
    ['', 'unexplained'],
    ['Gremlins', 'unexplained'],
  ])('"%s" is %s', (message, expected) => {
    expect(classifyTaskMessage(message, [])).toBe(expected);
  });

  it('applies the rules of the policy first', () => {
    expect(classifyTaskMessage('Permission denied', [{ words: ['denied'], class: 'retry' }])).toBe('retry');
  });
});
