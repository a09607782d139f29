import { X509Certificate } from 'node:crypto';

/** Four times the size of all public authorities together. */
export const certificatesLengthMax = 1024 * 1024;

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of a CA file, and ignores its other content. A broken certificate is reported here, because
 * TLS would ignore it and then report an untrusted authority.
 * @returns the certificates as PEM, or the problem
 */
export function findCertificates(
  text: string,
): { readonly pem: string } | { readonly problem: 'none' | 'broken' } {
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0) return { problem: 'none' };
  return blocks.every(isCertificate) ? { pem: blocks.join('\n') } : { problem: 'broken' };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
