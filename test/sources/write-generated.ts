/** A script: `npm run generate` writes the files that the code gives. */
import { writeFileSync } from 'node:fs';
import { generatedFiles } from './generated.ts';

for (const { path, text } of await generatedFiles()) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), text);
}
