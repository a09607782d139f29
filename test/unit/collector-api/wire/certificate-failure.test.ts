import { describe, expect, it } from 'vitest';
import { isUnanswered } from '../../../../src/collector-api/wire/service-circuit.ts';
import { certificateFailureOf } from '../../../../src/collector-api/wire/service-failure.ts';
import { HttpFault } from '../../../../src/http/fault.ts';

function aFault(code: string): HttpFault {
  const cause = Object.assign(new Error('tls'), { code });
  return new HttpFault({
    kind: 'connect',
    operation: 'list',
    problem: `connect (${code})`,
    sent: false,
    cause,
  });
}

describe('a refused certificate', () => {
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'misconfigured', 'service.caFile'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'misconfigured', 'service.caFile'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'misconfigured', 'service.caFile'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'misconfigured', 'service.caFile'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'misconfigured', 'baseUrl in the config'],
    ['CERT_HAS_EXPIRED', 'unavailable', 'expired'],
    ['CERT_NOT_YET_VALID', 'unavailable', 'clock'],
  ])('with %s is %s, and names %s', (code, kind, word) => {
    const failure = certificateFailureOf(aFault(code), 'getCollector');
    expect(failure).toMatchObject({ kind, detail: expect.stringContaining(word) });
  });

  it('that is out of date was sent nothing', () => {
    expect(certificateFailureOf(aFault('CERT_HAS_EXPIRED'), 'getCollector')).toMatchObject({ sent: false });
  });

  it.each(['ECONNREFUSED', 'constructor', ''])('is not recognised by %j', (code) => {
    expect(certificateFailureOf(aFault(code), 'getCollector')).toBeUndefined();
  });

  it('is no answer of the service', () => {
    expect(isUnanswered(aFault('DEPTH_ZERO_SELF_SIGNED_CERT'))).toBe(true);
  });
});
