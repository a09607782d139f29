import { dirname, resolve } from 'node:path';
import { invariant } from '../../base/assert.ts';
import { certificatesLengthMax, findCertificates } from '../../base/pem-certificates.ts';
import { Secret } from '../../base/secret.ts';
import { noHttpUrl } from '../schema/notify-schema.ts';
import { guessable, partOf, type Unfit, unfitForId, unprintable } from '../schema/value-schemas.ts';
import { formatPath, quote } from '../source/config-error.ts';
import type { PlacedIssue } from '../source/describe-problems.ts';
import { readTextFile } from '../source/text-file.ts';
import type { Substitution } from './substitute-environment.ts';

/** A key that names a file: one with a secret, with the rules for the secret, or one with certificates. */
type FilePlace = { readonly path: readonly PropertyKey[] } & (
  | { readonly unfit: readonly Unfit[] }
  | { readonly certificates: true }
);

const servicePlaces: readonly FilePlace[] = [
  { path: ['accessIdFile'], unfit: [unfitForId] },
  { path: ['accessKeyFile'], unfit: [unprintable] },
  { path: ['caFile'], certificates: true },
];

const places: readonly FilePlace[] = [
  { path: ['redis', 'passwordFile'], unfit: [unprintable] },
  { path: ['redis', 'caFile'], certificates: true },
  { path: ['http', 'tokenFile'], unfit: [unprintable, guessable] },
];

/** Secrets of each receiver. */
const receiverPlaces: readonly FilePlace[] = [
  { path: ['slack', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['slack', 'tokenFile'], unfit: [unprintable] },
  { path: ['teams', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['webhook', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['webhook', 'secretFile'], unfit: [unprintable, guessable] },
  { path: ['pagerDuty', 'routingKeyFile'], unfit: [unprintable] },
  { path: ['email', 'passwordFile'], unfit: [] },
];

function placesIn(data: unknown): readonly FilePlace[] {
  const ofReceivers = listOf(partOf(data, 'notify')).flatMap((_receiver, index) =>
    receiverPlaces.map((place) => ({ ...place, path: ['notify', index, ...place.path] })),
  );
  const ofTokens = listOf(partOf(partOf(data, 'http'), 'tokens')).map((_token, index) => ({
    ...{ path: ['http', 'tokens', index, 'tokenFile'], unfit: [unprintable, guessable] },
  }));
  const accounts = partOf(data, 'accounts');
  const names = typeof accounts === 'object' && accounts !== null ? Object.keys(accounts) : [];
  const ofServices = [['service'], ...names.map((name) => ['accounts', name])].flatMap((section) =>
    servicePlaces.map((place) => ({ ...place, path: [...section, ...place.path] })),
  );
  return [...ofServices, ...places, ...ofReceivers, ...ofTokens];
}

function listOf(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [];
}

/** No credential is longer. */
const secretBytesMax = 16 * 1024;

/** What the files hold that the config names. */
export interface NamedFiles {
  /** By the path of the key, such as `service.accessIdFile`. */
  readonly byPath: ReadonlyMap<string, Secret>;
  /** Absolute paths of the files with secrets. */
  readonly secretFiles: readonly string[];
  readonly issues: readonly PlacedIssue[];
}

/** What stands for a secret that is not read. Some secrets are addresses. */
const unread = 'https://secret.is.not.read';

/**
 * Reads secrets and certificates in separate files. It reads the data before it is checked, so that a bad file is reported
 * together with all other problems. Messages show the text of the config, because a variable may contain a secret (P12).
 * @param withSecrets false: files with secrets are not read, and may be on another machine
 */
export function readNamedFiles(
  substitution: Substitution,
  configFile: string,
  withSecrets = true,
): NamedFiles {
  const byPath = new Map<string, Secret>();
  const secretFiles: string[] = [];
  const issues: PlacedIssue[] = [];
  for (const place of placesIn(substitution.value)) {
    const { path } = place;
    const key = formatPath(path);
    const fileName = path.reduce(partOf, substitution.value);
    // A missing variable is reported separately.
    const isMissing = substitution.issues.some((issue) => formatPath(issue.path) === key);
    if (isMissing || typeof fileName !== 'string' || fileName === '') continue;
    if ('unfit' in place && !withSecrets) {
      byPath.set(key, new Secret(unread));
      continue;
    }
    const file = resolve(dirname(configFile), fileName);
    const read = 'unfit' in place ? readSecret(file, place.unfit) : readCertificates(file);
    if ('problem' in read) {
      const what = 'unfit' in place ? 'the secret' : 'certificates';
      const written = substitution.texts.get(key)?.written ?? fileName;
      issues.push({
        path,
        message: `can't take ${what} from ${quote(written)}: ${read.problem}`,
        part: 'value',
      });
    } else {
      byPath.set(key, new Secret(read.value));
      if ('unfit' in place) secretFiles.push(file);
    }
  }
  return { byPath, secretFiles, issues };
}

/** The secret at a key, or in the file that its other key names. */
export function secretOr(inline: Secret | undefined, files: NamedFiles['byPath'], path: string): Secret {
  const secret = inline ?? files.get(path);
  invariant(secret !== undefined, 'the schema requires the secret or its file');
  return secret;
}

type Read = { readonly value: string } | { readonly problem: string };

function readSecret(path: string, unfitFor: readonly Unfit[]): Read {
  const text = readTextFile(path, secretBytesMax);
  if (typeof text !== 'string') return text;
  const value = text.replace(/[\r\n]+$/, '');
  if (value === '') return { problem: 'the file is empty' };
  const unfit = unfitFor.find(({ pattern }) => pattern.test(value));
  return unfit === undefined ? { value } : { problem: `it ${unfit.sentence}` };
}

/** Read at the start, so that a wrong file is found before any connection. */
function readCertificates(path: string): Read {
  const text = readTextFile(path, certificatesLengthMax);
  if (typeof text !== 'string') return text;
  const found = findCertificates(text);
  return 'pem' in found ? { value: found.pem } : { problem: problemText[found.problem] };
}

const problemText = {
  none: 'it holds none; give them as PEM ("-----BEGIN CERTIFICATE-----")',
  broken: 'one in it is broken; copy the file again',
};
