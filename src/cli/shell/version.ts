import { readFileSync } from 'node:fs';

/** This program's version, from its package.json. */
export function readVersion(): string {
  // The relative path is the same from src/cli and from dist/cli.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const isNamed = typeof parsed === 'object' && parsed !== null && 'version' in parsed;
  return isNamed ? String(parsed.version) : 'unknown';
}
