import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const Names = z.record(z.string(), z.string());
const { dependencies, optionalDependencies, bundleDependencies } = z
  .object({ dependencies: Names, optionalDependencies: Names, bundleDependencies: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

describe('the package', () => {
  it('brings every dependency with it, as the lock-file names them', () => {
    const needed = Object.keys({ ...dependencies, ...optionalDependencies });
    expect([...bundleDependencies].sort()).toEqual(needed.sort());
  });
});
