import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const notOurs = new Set(['node_modules', 'dist', 'dist-simulation', 'coverage', '.git', '.upwave']);

/** Paths of all files below a folder of the repository, relative to its root, with `/`. */
export function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return [];
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(path, ending);
    return ending.test(path) ? [path] : [];
  });
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A document without its blocks of code, in which `#` begins a comment and brackets are no links. */
export function proseOf(path: string): string {
  return textOf(path).replaceAll(/^```[\s\S]*?^```/gm, '');
}

export function headingsOf(path: string): string[] {
  return [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.trim());
}

/** The anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
