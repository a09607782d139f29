import { expect, it } from 'vitest';
import { serviceFailureOf } from '../../../../src/collector-api/wire/service-failure.ts';
import { listCollectors } from '../../../../src/contract/collector-management/collectors.ts';
import { HttpFault } from '../../../../src/http/fault.ts';
import { isUnreached } from '../../../../src/rollout/upgrade/failure-classes.ts';

const failureOf = (
  parts: Pick<HttpFault, 'kind'> & { readonly status?: number; readonly isJson?: boolean },
) =>
  serviceFailureOf(
    new HttpFault({ operation: 'list', problem: 'm', sent: true, ...parts }),
    listCollectors,
    (text) => text,
  );

it.each([
  ['no connection', { kind: 'connect' }],
  ['no answer in time', { kind: 'timeout' }],
  ['a broken connection', { kind: 'reset' }],
] as const)('%s: the service could not be reached', (_what, fault) => {
  expect(isUnreached(failureOf(fault))).toBe(true);
});

it.each([
  ['408', { kind: 'status', status: 408 }],
  ['429', { kind: 'status', status: 429 }],
  ['431', { kind: 'status', status: 431 }],
  ['500', { kind: 'status', status: 500 }],
  ['a page', { kind: 'status', status: 502, isJson: false }],
  ['JSON that cannot be read', { kind: 'undecodable', status: 200 }],
  ['no HTTP', { kind: 'undecodable' }],
  ['too large a body', { kind: 'tooLarge', status: 200 }],
  ['a body that broke off', { kind: 'reset', status: 200 }],
] as const)('%s: it was reached, and gave no usable answer', (_what, fault) => {
  const failure = failureOf(fault);
  expect(isUnreached(failure)).toBe(false);
  expect(['unavailable', 'throttled']).toContain(failure.kind);
});

it('a page with a good status: names what may have sent it, and what to check', () => {
  const advice = expect.stringContaining('answered instead of the service. Check baseUrl in the config');
  expect(failureOf({ kind: 'undecodable', status: 200, isJson: false })).toMatchObject({ detail: advice });
  expect(failureOf({ kind: 'undecodable', status: 200 })).not.toMatchObject({ detail: advice });
  expect(failureOf({ kind: 'status', status: 502, isJson: false })).not.toMatchObject({ detail: advice });
});

it('403: nothing is to be resumed where nothing is held', () => {
  const failure = failureOf({ kind: 'status', status: 403 });
  expect(failure).toMatchObject({ kind: 'misconfigured', detail: expect.not.stringContaining('resume') });
});
