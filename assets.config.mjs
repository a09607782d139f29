// What stands beside the compiled code and is no TypeScript: `npm run build` runs this after the compiler.
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
for (const file of files.filter((name) => name.endsWith('.lua'))) cpSync(join('src', file), join('dist', file));
