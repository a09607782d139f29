/** A script: `node dist/config/write-json-schema.js` writes config/upwave.schema.json from the zod schema. */
import { writeFileSync } from 'node:fs';
import { configJsonSchemaText } from './schema/json-schema.ts';

writeFileSync(new URL('../../config/upwave.schema.json', import.meta.url), configJsonSchemaText());
