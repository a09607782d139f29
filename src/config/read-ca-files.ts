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

const sections = ['service', 'redis'] as const;

// All the public authorities together are a quarter of this.
const bytesMax = 1024 * 1024;

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of own authorities, so that a wrong file is told with all other problems and not by the first
 * connection.
 * @param pathOf what the file gives as a section's `caFile`; undefined where it gives none
 */
export function readCaFiles(
  pathOf: (section: (typeof sections)[number]) => string | undefined,
  configFile: string,
): { readonly ca: CaFiles; readonly issues: readonly PlacedIssue[] } {
  const found: Array<readonly [string, string]> = [];
  const issues: PlacedIssue[] = [];
  for (const section of sections) {
    const path = pathOf(section);
    if (path === undefined || path === '') continue;
    const text = readTextFile(resolve(dirname(configFile), path), bytesMax);
    const problem = typeof text === 'string' ? problemOf(text) : text.problem;
    if (problem !== undefined) {
      const message = `can't take certificates from ${quote(path)}: ${problem}`;
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
