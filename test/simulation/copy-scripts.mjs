// After the compiler: the scripts of Redis, each beside the module that reads it.
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

for (const file of readdirSync('src/redis', { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.lua')) cpSync(join('src/redis', file), join('dist-simulation/src/redis', file));
