import { Secret } from '../../base/secret.ts';
import { noHttpUrl } from '../schema/notify-schema.ts';
import { guessable, partOf, type Unfit, unfitForId, unprintable } from '../schema/value-schemas.ts';
import { formatPath, quote } from '../source/config-error.ts';
import type { PlacedIssue } from '../source/describe-problems.ts';
import { readTextFile } from '../source/text-file.ts';
import { namedFileOf } from './named-files.ts';
import type { Substitution } from './substitute-environment.ts';

/** The keys whose secret may be in a separate file, with the rules for the secret. */
interface SecretPlace {
  readonly path: readonly PropertyKey[];
  readonly unfit: readonly Unfit[];
}

const servicePlaces: readonly SecretPlace[] = [
  { path: ['accessIdFile'], unfit: [unfitForId] },
  { path: ['accessKeyFile'], unfit: [unprintable] },
];

const places: readonly SecretPlace[] = [
  { path: ['redis', 'passwordFile'], unfit: [unprintable] },
  { path: ['http', 'tokenFile'], unfit: [unprintable, guessable] },
];

/** Secrets of each receiver. */
const receiverPlaces: readonly SecretPlace[] = [
  { path: ['slack', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['teams', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['webhook', 'urlFile'], unfit: [unprintable, noHttpUrl] },
  { path: ['webhook', 'secretFile'], unfit: [unprintable, guessable] },
  { path: ['pagerDuty', 'routingKeyFile'], unfit: [unprintable] },
  { path: ['email', 'passwordFile'], unfit: [] },
];

function placesIn(data: unknown): readonly SecretPlace[] {
  const ofReceivers = listOf(partOf(data, 'notify')).flatMap((_receiver, index) =>
    receiverPlaces.map(({ path, unfit }) => ({ path: ['notify', index, ...path], unfit })),
  );
  const ofTokens = listOf(partOf(partOf(data, 'http'), 'tokens')).map((_token, index) => ({
    ...{ path: ['http', 'tokens', index, 'tokenFile'], unfit: [unprintable, guessable] },
  }));
  const ofServices = [['service'], ...accountPaths(data)].flatMap((section) =>
    servicePlaces.map(({ path, unfit }) => ({ path: [...section, ...path], unfit })),
  );
  return [...ofServices, ...places, ...ofReceivers, ...ofTokens];
}

/** The paths of the accounts in a file that is not checked yet. */
export function accountPaths(data: unknown): ReadonlyArray<readonly [string, string]> {
  const accounts = partOf(data, 'accounts');
  if (typeof accounts !== 'object' || accounts === null) return [];
  return Object.keys(accounts).map((name) => ['accounts', name] as const);
}

function listOf(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [];
}

/** No credential is longer. */
const secretBytesMax = 16 * 1024;

export interface SecretFiles {
  /** By the path of the key, such as `service.accessIdFile`. */
  readonly byPath: ReadonlyMap<string, Secret>;
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  readonly issues: readonly PlacedIssue[];
}

/** Reads the secrets that are in separate files. */
export function readSecretFiles(substitution: Substitution, configFile: string): SecretFiles {
  const byPath = new Map<string, Secret>();
  const files: string[] = [];
  const issues: PlacedIssue[] = [];
  for (const { path, unfit } of placesIn(substitution.value)) {
    const named = namedFileOf(substitution, path, configFile);
    if (named === undefined) continue;
    const secret = readSecret(named.path, unfit);
    if ('problem' in secret) {
      const message = `can't take the secret from ${quote(named.written)}: ${secret.problem}`;
      issues.push({ path, message, part: 'value' });
    } else {
      byPath.set(formatPath(path), new Secret(secret.value));
      files.push(named.path);
    }
  }
  return { byPath, files, issues };
}

function readSecret(
  path: string,
  unfitFor: readonly Unfit[],
): { readonly value: string } | { readonly problem: string } {
  const text = readTextFile(path, secretBytesMax);
  if (typeof text !== 'string') return text;
  const value = text.replace(/[\r\n]+$/, '');
  if (value === '') return { problem: 'the file is empty' };
  const unfit = unfitFor.find(({ pattern }) => pattern.test(value));
  return unfit === undefined ? { value } : { problem: `it ${unfit.sentence}` };
}
