import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const Names = z.record(z.string(), z.string());
const { dependencies, optionalDependencies, bundleDependencies, scripts } = z
  .object({
    ...{ dependencies: Names, optionalDependencies: Names, scripts: Names },
    bundleDependencies: z.array(z.string()),
  })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

describe('the package', () => {
  it('brings every dependency with it, as the lock-file names them', () => {
    const needed = Object.keys({ ...dependencies, ...optionalDependencies });
    expect([...bundleDependencies].sort()).toEqual(needed.sort());
  });

  // The npm of Node 20 would write the lock-file anew, without what it does not know.
  it('installs for the demo and the tests without a change of the lock-file, and without words of npm', () => {
    const installing = Object.values(scripts).filter((script) => script.includes('npm install'));
    expect(installing).toEqual([
      expect.stringMatching(/npm install --no-save .*--loglevel=error >\/dev\/null/),
    ]);
    for (const name of ['predemo', 'pretest'])
      expect(scripts[name]).toBe('npm run --silent install-and-build');
  });
});
