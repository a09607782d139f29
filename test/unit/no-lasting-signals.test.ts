import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

describe('signals', () => {
  it('are joined by withEitherSignal alone: a daemon would never let go of what AbortSignal.any makes', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    expect(files.length).toBeGreaterThan(300);
    const using = files.filter((file) => /AbortSignal\.any\(/.test(readFileSync(join(source, file), 'utf8')));
    expect(using).toEqual([]);
  });
});
