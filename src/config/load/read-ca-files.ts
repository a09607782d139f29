import { certificatesLengthMax, findCertificates } from '../../base/pem-certificates.ts';
import { formatPath, quote } from '../source/config-error.ts';
import type { PlacedIssue } from '../source/describe-problems.ts';
import { readTextFile } from '../source/text-file.ts';
import { namedFileOf } from './named-files.ts';
import { accountPaths } from './read-secret-files.ts';
import type { Substitution } from './substitute-environment.ts';

/** PEM of the authorities of each section that names a `caFile`, by the path of the section, such as `service`. */
export type CaFiles = ReadonlyMap<string, string>;

/** Reads the certificates of authorities, so that a wrong file is reported with all other problems, before any connection. */
export function readCaFiles(
  substitution: Substitution,
  configFile: string,
): { readonly ca: CaFiles; readonly issues: readonly PlacedIssue[] } {
  const found = new Map<string, string>();
  const issues: PlacedIssue[] = [];
  for (const section of [['service'], ['redis'], ...accountPaths(substitution.value)]) {
    const path = [...section, 'caFile'];
    const named = namedFileOf(substitution, path, configFile);
    if (named === undefined) continue;
    const certificates = readCertificates(named.path);
    if ('pem' in certificates) found.set(formatPath(section), certificates.pem);
    else {
      const message = `can't take certificates from ${quote(named.written)}: ${certificates.problem}`;
      issues.push({ path, message, part: 'value' });
    }
  }
  return { ca: found, issues };
}

function readCertificates(path: string): { readonly pem: string } | { readonly problem: string } {
  const text = readTextFile(path, certificatesLengthMax);
  if (typeof text !== 'string') return text;
  const found = findCertificates(text);
  if ('pem' in found) return found;
  return { problem: problemWords[found.problem] };
}

const problemWords = {
  none: 'it holds none; give them as PEM ("-----BEGIN CERTIFICATE-----")',
  broken: 'one in it is broken; copy the file again',
};
