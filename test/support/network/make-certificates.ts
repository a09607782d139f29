import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether certificates can be made here. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface TestCertificates {
  /** PEM of an authority that nobody else trusts. */
  readonly ca: string;
  /** Signed by it, for these names. */
  readonly server: { readonly key: string; readonly cert: string };
}

/** Makes an authority of its own, and a server's certificate. @param names as OpenSSL writes them: `IP:127.0.0.1` */
export function makeCertificates(names = 'DNS:localhost,IP:127.0.0.1'): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'upwave-tls-'));
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    writeFileSync(join(folder, 'names.txt'), `subjectAltName=${names}\n`);
    const ca = ['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=upwave test authority', '-days', '2'];
    openssl('req', '-x509', ...newKey, ...ca);
    openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=upwave test');
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    const out = ['-extfile', 'names.txt', '-out', 'server.pem'];
    openssl('x509', '-req', '-in', 'server.csr', ...signing, ...out);
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { ca: read('ca.pem'), server: { key: read('server.key'), cert: read('server.pem') } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
