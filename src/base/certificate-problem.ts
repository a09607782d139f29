/** Why a TLS partner's certificate was refused: what an operator can do about it differs. */
export type CertificateProblem = 'unknownAuthority' | 'otherName' | 'outOfDate';

const problemOfCode: Readonly<Record<string, CertificateProblem>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unknownAuthority',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknownAuthority',
  UNABLE_TO_GET_ISSUER_CERT: 'unknownAuthority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknownAuthority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknownAuthority',
  CERT_UNTRUSTED: 'unknownAuthority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'otherName',
  CERT_HAS_EXPIRED: 'outOfDate',
  CERT_NOT_YET_VALID: 'outOfDate',
};

/** @returns undefined when the error is about anything else */
export function certificateProblemOf(error: unknown): CertificateProblem | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return Object.hasOwn(problemOfCode, code) ? problemOfCode[code] : undefined;
}
