/** The script of `npm run generate`: writes the generated files. */
import { writeFileSync } from 'node:fs';
import { generatedFiles } from './generated.ts';

for (const { path, text } of await generatedFiles()) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), text);
}
