import { X509Certificate } from 'node:crypto';

/** All the public authorities together are a quarter of this. */
export const certificatesLengthMax = 1024 * 1024;

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Finds the certificates in a file of authorities, and nothing else that it holds. TLS itself takes a broken one for
 * none, and then says that the authority is not trusted.
 * @returns them as PEM, or what is wrong
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
