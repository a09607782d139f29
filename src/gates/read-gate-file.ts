import { errorCodeOf } from '../base/node-errors.ts';
import { certificatesLengthMax, findCertificates } from '../base/pem-certificates.ts';
import { Secret } from '../base/secret.ts';
import { untilAborted } from '../base/waiting.ts';

export type ReadFile = (path: string, signal: AbortSignal) => Promise<string>;

/** Why there is nothing to ask with. */
export interface Missing {
  readonly ok: false;
  readonly detail: string;
}

type Found = { readonly ok: true; readonly value: Secret } | Missing;

/** Long for a token or a URL, and short for a header: servers refuse headers from 8 KB on. */
const charactersMax = 7_000;

/**
 * Reads the file of a gate; blanks around what it holds do not count. The words name the file, never what is in it (P12).
 * @param what it holds
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
    return { ok: false, detail: `the ${what} file ${path} holds something else than a ${what}` };
  }
  return { ok: true, value: new Secret(value) };
}

/** The same for certificates in PEM. @throws the signal's reason when it is aborted first */
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
    found.problem === 'none' ? 'holds no certificates (PEM)' : 'holds one that is broken; copy it again';
  return { ok: false, detail: `the certificate file ${path} ${words}` };
}

async function readText(
  { path, what }: { readonly path: string; readonly what: string },
  read: ReadFile,
  signal: AbortSignal,
): Promise<string | Missing> {
  // Opening a pipe, or a file of a network that is away, may never end.
  const text = await untilAborted(read(path, signal), signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return { code: errorCodeOf(error) ?? 'no reason' };
  });
  if (typeof text === 'string') return text;
  const reason = text.code === 'ENOENT' ? 'does not exist' : `cannot be read (${text.code})`;
  return { ok: false, detail: `the ${what} file ${path} ${reason}` };
}
