import { readdirSync, readFileSync } from 'node:fs';

/** The numbered sections of collector-api.md that can be tested; §6 says that there are no events. */
export const testableSections = [
  '1',
  '1.1',
  '1.2',
  '2.1',
  '2.2',
  '2.3',
  '2.4',
  '3',
  '4.1',
  '4.2',
  '4.3',
  '4.4',
  '4.5',
  '5.1',
  '5.2',
  '5.3',
  '5.4',
  '5.5',
  '5.6',
  '7.1',
  '7.2',
  '7.3',
  '7.4',
  '7.5',
  '8',
  '9.1',
  '9.2',
  '9.3',
  '9.4',
] as const;

/** The section which a test proves: its name begins with it. */
export function sectionOf(testName: string): string | undefined {
  return /^§(\d+(?:\.\d+)?) /.exec(testName)?.[1];
}

/** What each test file of a folder calls its tests, as written: a table of examples counts once. */
export function writtenTestNames(
  folder: URL,
): ReadonlyArray<{ readonly file: string; readonly name: string }> {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      return [...text.matchAll(testCall)].map((call) => ({ file, name: call[2] ?? '' }));
    });
}

// The first text after `it(`, or after the `)(` that ends a table of examples.
const testCall = /^(?:it\w*\(|it\w*\.each[\s\S]*?\)\()\s*(['"`])(.*?)\1,/gm;
