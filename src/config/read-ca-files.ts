import { X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { quote } from './config-error.ts';
import type { PlacedIssue } from './describe-problems.ts';
import { readTextFile } from './text-file.ts';

/** PEM of the authorities of each section that names a `caFile`. */
export interface CaFiles {
  readonly service?: string;
  readonly redis?: string;
}

/** A path, and how it stands in the config: a variable may hold a secret that is no path at all (P12). */
interface NamedFile {
  readonly path: string;
  readonly written: string;
}

const sections = ['service', 'redis'] as const;

// All the public authorities together are a quarter of this.
const bytesMax = 1024 * 1024;

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of own authorities, so that a wrong file is told with all other problems and not by the first
 * connection.
 * @param given what the config names as a section's `caFile`; undefined where it names none
 */
export function readCaFiles(
  given: (section: (typeof sections)[number]) => NamedFile | undefined,
  configFile: string,
): { readonly ca: CaFiles; readonly issues: readonly PlacedIssue[] } {
  const found: Array<readonly [string, string]> = [];
  const issues: PlacedIssue[] = [];
  for (const section of sections) {
    const named = given(section);
    if (named === undefined || named.path === '') continue;
    const text = readTextFile(resolve(dirname(configFile), named.path), bytesMax);
    const problem = typeof text === 'string' ? problemOf(text) : text.problem;
    if (problem !== undefined) {
      const message = `can't take certificates from ${quote(named.written)}: ${problem}`;
      issues.push({ path: [section, 'caFile'], message, part: 'value' });
    } else if (typeof text === 'string') found.push([section, (text.match(certificate) ?? []).join('\n')]);
  }
  return { ca: Object.fromEntries(found), issues };
}

function problemOf(text: string): string | undefined {
  const blocks = text.match(certificate) ?? [];
  if (blocks.length === 0) return 'it holds none; give them as PEM ("-----BEGIN CERTIFICATE-----")';
  const isBroken = blocks.some((block) => !isCertificate(block));
  return isBroken ? 'one in it is broken; copy the file again' : undefined;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
