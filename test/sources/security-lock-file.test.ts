import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * What runs a program of its own when it is installed, and why that is borne.
 */
const installScripts: Readonly<Record<string, string>> = {
  '@swc/core': 'development: reads TypeScript for the test of the words; checks that its binary fits',
  'cpu-features': 'development, optional: compiles for ssh2, below testcontainers',
  esbuild: 'development: bundles the page; below tsx and vitest; checks that its binary fits',
  'msgpackr-extract': 'optional: compiles where no binary fits; below bullmq, which does without',
  protobufjs: 'development: below testcontainers; warns of a version scheme, and does nothing else',
  ssh2: 'development: below testcontainers; compiles its crypto, and does without',
};

/** Families of optional binaries for machines other than the one where the lock was made: src/README.md says why. */
const platformFamilies = [
  /^@biomejs\/cli-/,
  /^@msgpackr-extract\/msgpackr-extract-/,
  /^@oxc-parser\/binding-/,
  /^@oxlint-tsgolint\//,
  /^@oxlint\/binding-/,
  /^@swc\/core-/,
];

describe('the lock-file', () => {
  it('is checked as a whole', () => {
    expect(packages.length).toBeGreaterThan(300);
  });

  it('has no install script that was not reviewed', () => {
    const found = packages.flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript ? [nameOf(path)] : [],
    );
    expect([...new Set(found)].sort()).toEqual(Object.keys(installScripts).sort());
  });

  it('has a strong hash for every package, except binaries of other platforms', () => {
    const without = packages.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    const unexpected = without.filter(([path, locked]) => {
      const isForOthers = (locked.os ?? locked.cpu ?? locked.libc) !== undefined && locked.optional === true;
      return !(isForOthers && platformFamilies.some((family) => family.test(nameOf(path))));
    });
    expect(unexpected).toEqual([]);
    // What runs where this is developed and served has its hash.
    const here = without.filter(
      ([, { os, cpu, libc }]) =>
        os?.includes('linux') === true && cpu?.includes('x64') === true && libc?.includes('musl') !== true,
    );
    expect(here).toEqual([]);
  });

  it('takes packages from one registry only: no git, no file, no second host', () => {
    const origins = new Set<string>();
    const strange = packages.filter(([, { resolved, link, version }]) => {
      if (link === true || version === undefined) return true;
      if (resolved === undefined) return false;
      if (!URL.canParse(resolved)) return true;
      origins.add(new URL(resolved).origin);
      return new URL(resolved).protocol !== 'https:';
    });
    expect(strange).toEqual([]);
    expect(origins.size).toBeLessThanOrEqual(1);
  });

  it('pins each dependency of ours to one version', () => {
    const root = lock.packages[''] as {
      dependencies?: object;
      devDependencies?: object;
      optionalDependencies?: object;
    };
    const wanted = Object.entries({
      ...root.dependencies,
      ...root.devDependencies,
      ...root.optionalDependencies,
    });
    expect(wanted.length).toBeGreaterThan(20);
    expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
  });
});
