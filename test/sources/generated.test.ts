import { describe, expect, it } from 'vitest';
import { textOf } from './documents.ts';
import { generatedFiles } from './generated.ts';

describe('a generated file', async () => {
  it.each(await generatedFiles())('$path is up to date; if not, run: npm run generate', ({ path, text }) => {
    expect(textOf(path)).toBe(text);
  });
});
