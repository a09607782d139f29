import { describe, expect, it } from 'vitest';
import { textOf } from './documents.ts';
import { generatedFiles } from './generated.ts';

describe('a generated file', async () => {
  it.each(await generatedFiles())(
    '$path is what the code gives; else run: npm run generate',
    ({ path, text }) => {
      expect(textOf(path)).toBe(text);
    },
  );
});
