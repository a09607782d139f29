import { readdirSync } from 'node:fs';
import type { Script } from '../../../src/redis/connection/script.ts';

type AnyScript = Script<string, Readonly<Record<string, never>>, unknown>;

const folder = new URL('../../../src/redis/', import.meta.url);

/** The `.lua` files of `src/redis`, relative to it. */
export function luaFiles(): readonly string[] {
  return filesThatEndWith('.lua');
}

/** Every script that a room's `scripts.ts` defines, by room and name. */
export async function allScripts(): Promise<ReadonlyMap<string, AnyScript>> {
  const found = new Map<string, AnyScript>();
  for (const file of filesThatEndWith('/scripts.ts')) {
    const defined = (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>;
    for (const [name, script] of Object.entries(defined))
      if (isScript(script)) found.set(`${file} ${name}`, script);
  }
  return found;
}

function isScript(value: unknown): value is AnyScript {
  return typeof value === 'object' && value !== null && 'sha1' in value && 'lua' in value;
}

function filesThatEndWith(end: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((name) => name.endsWith(end)).sort();
}
