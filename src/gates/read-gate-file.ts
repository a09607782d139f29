import { errorCodeOf } from '../base/node-errors.ts';
import { certificatesLengthMax, findCertificates } from '../base/pem-certificates.ts';
import { Secret } from '../base/secret.ts';
import { untilAborted } from '../base/waiting.ts';

export type ReadFile = (path: string, signal: AbortSignal) => Promise<string>;

/** Why a file or URL that a gate needs is unusable. */
export interface Missing {
  readonly ok: false;
  readonly detail: string;
}

type Found = { readonly ok: true; readonly value: Secret } | Missing;

/** Long for a token or a URL, and short for a header: servers refuse headers above 8 KB. */
const charactersMax = 7_000;

/**
 * Reads the file of a gate, and trims blanks. Messages name the file, never its content (P12).
 * @param what the content
 * @throws the signal's reason when it is aborted first
 */
export async function readGateFile(
  { path, what }: { readonly path: string; readonly what: 'token' | 'URL' },
  read: ReadFile,
  signal: AbortSignal,
): Promise<Found> {
  const text = await readText({ path, what }, read, signal);
  if (typeof text !== 'string') return text;
  const value = text.trim();
  if (value === '') return { ok: false, detail: `the ${what} file ${path} is empty` };
  if (value.length > charactersMax || !/^[\x21-\x7e]+$/.test(value)) {
    return { ok: false, detail: `the ${what} file ${path} does not contain a ${what}` };
  }
  return { ok: true, value: new Secret(value) };
}

/** Reads a certificate file (PEM). @throws the signal's reason when it is aborted first */
export async function readCertificates(
  path: string,
  read: ReadFile,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly pem: string } | Missing> {
  const text = await readText({ path, what: 'certificate' }, read, signal);
  if (typeof text !== 'string') return text;
  if (text.length > certificatesLengthMax) {
    const detail = `the certificate file ${path} is larger than ${certificatesLengthMax} characters`;
    return { ok: false, detail };
  }
  const found = findCertificates(text);
  if ('pem' in found) return { ok: true, pem: found.pem };
  const words =
    found.problem === 'none'
      ? 'contains no certificates (PEM)'
      : 'contains a broken certificate; copy it again';
  return { ok: false, detail: `the certificate file ${path} ${words}` };
}

async function readText(
  { path, what }: { readonly path: string; readonly what: string },
  read: ReadFile,
  signal: AbortSignal,
): Promise<string | Missing> {
  // Reading a pipe, or a file on an unreachable network, may never end.
  const text = await untilAborted(read(path, signal), signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return { code: errorCodeOf(error) ?? 'unknown error' };
  });
  if (typeof text === 'string') return text;
  const reason = text.code === 'ENOENT' ? 'does not exist' : `cannot be read (${text.code})`;
  return { ok: false, detail: `the ${what} file ${path} ${reason}` };
}
