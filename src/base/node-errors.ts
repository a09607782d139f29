/** Why a server's certificate was refused. Each problem has another remedy. */
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

/** The problem, to follow "the certificate" in a sentence. */
export const certificateText: Readonly<Record<CertificateProblem, string>> = {
  unknownAuthority: 'is signed by an authority that is not trusted here',
  otherName: 'is for another host name',
  outOfDate: 'has expired, or is not valid yet',
};

/** @returns undefined for any other error */
export function certificateProblemOf(error: unknown): CertificateProblem | undefined {
  const code = errorCodeOf(error) ?? '';
  return Object.hasOwn(problemOfCode, code) ? problemOfCode[code] : undefined;
}

/**
 * Describes a refused certificate, as a part of a sentence.
 * @param caFile the setting that makes an authority trusted
 * @returns undefined for any other error
 */
export function describeCertificateProblem(error: unknown, caFile: string): string | undefined {
  const problem = certificateProblemOf(error);
  if (problem === undefined) return undefined;
  const remedy = problem === 'unknownAuthority' ? `: set ${caFile} to the authority's certificate (PEM)` : '';
  return `its certificate ${certificateText[problem]}${remedy}`;
}

/** The result of a system call; undefined when the call fails. @throws errors without a system error code */
export function unlessRefused<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The error code of Node or a library, such as `ECONNREFUSED`; undefined without one. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
