import { Secret } from '../../base/secret.ts';
import { guessable, type Unfit, unfitForId, unprintable } from '../schema/value-schemas.ts';
import { quote } from '../source/config-error.ts';
import type { PlacedIssue } from '../source/describe-problems.ts';
import { readTextFile } from '../source/text-file.ts';
import { namedFileOf } from './named-files.ts';
import type { Substitution } from './substitute-environment.ts';

/** Where a secret may stand in a file of its own. */
const places = [
  ['service', 'accessIdFile'],
  ['service', 'accessKeyFile'],
  ['redis', 'passwordFile'],
  ['http', 'tokenFile'],
] as const;

type SecretFileKey = (typeof places)[number][1];

/** Of the keys whose secrets have rules of their own. */
const unfitFor: Partial<Readonly<Record<SecretFileKey, readonly Unfit[]>>> = {
  accessIdFile: [unfitForId],
  tokenFile: [unprintable, guessable],
};

/** No credential is longer. */
const secretBytesMax = 16 * 1024;

export interface SecretFiles {
  readonly byKey: ReadonlyMap<SecretFileKey, Secret>;
  /** Whole paths of those that were read. */
  readonly files: readonly string[];
  readonly issues: readonly PlacedIssue[];
}

/** Reads the secrets that the config keeps in files of their own. */
export function readSecretFiles(substitution: Substitution, configFile: string): SecretFiles {
  const byKey = new Map<SecretFileKey, Secret>();
  const files: string[] = [];
  const issues: PlacedIssue[] = [];
  for (const path of places) {
    const named = namedFileOf(substitution, path, configFile);
    if (named === undefined) continue;
    const [, key] = path;
    const secret = readSecret(named.path, key);
    if ('problem' in secret) {
      const message = `can't take the secret from ${quote(named.written)}: ${secret.problem}`;
      issues.push({ path, message, part: 'value' });
    } else {
      byKey.set(key, new Secret(secret.value));
      files.push(named.path);
    }
  }
  return { byKey, files, issues };
}

function readSecret(
  path: string,
  key: SecretFileKey,
): { readonly value: string } | { readonly problem: string } {
  const text = readTextFile(path, secretBytesMax);
  if (typeof text !== 'string') return text;
  const value = text.replace(/[\r\n]+$/, '');
  if (value === '') return { problem: 'the file is empty' };
  const unfit = (unfitFor[key] ?? [unprintable]).find(({ pattern }) => pattern.test(value));
  return unfit === undefined ? { value } : { problem: `it ${unfit.sentence}` };
}
