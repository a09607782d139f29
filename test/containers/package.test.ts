import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);
// A line for each file, those of the dependencies included.
const packedListBytesMax = 64 * 1024 * 1024;

const { overrides } = z
  .object({ overrides: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

const Packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

describe('the package', () => {
  let folder: string;
  let packed: z.infer<typeof Packed>[0];
  const inFolder = () => ({
    cwd: folder,
    env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder, NO_COLOR: '1' },
  });
  const upwave = (...args: string[]) => execute('upwave', args, inFolder());

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upwave-package-'));
    const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: root,
      maxBuffer: packedListBytesMax,
    });
    // What the build prints comes before it.
    packed = Packed.parse(JSON.parse(stdout.slice(stdout.indexOf('[\n'))))[0];
    const tarball = join(folder, packed.filename);
    const options = ['--offline', '--ignore-scripts', '--engine-strict', '--no-audit', '--no-fund'];
    await execute('npm', ['install', '--global', '--prefix', folder, ...options, tarball], { cwd: folder });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('contains the program, examples and deployment files, but no source or test', () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      'dist/main.js',
      'dist/upwave.1',
      'dist/upwave-docs.7',
      'dist/docs/guides/pictures/slots.svg',
      'dist/docs/page/docs.js',
      'config/minimal.yaml',
      'deploy/prometheus/rules.yml',
    ])
      expect(paths).toContain(path);
    expect(
      paths.filter(
        (path) => !/^(dist|config|deploy|node_modules)\/|^(LICENSE|README\.md|package\.json)$/.test(path),
      ),
    ).toEqual([]);
  });

  it('puts upwave on the PATH, with its manual pages and guides', async () => {
    expect((await upwave('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    for (const page of ['man1/upwave.1', 'man7/upwave-docs.7'])
      expect((await stat(join(folder, 'share/man', page))).size).toBeGreaterThan(1_000);
    expect((await upwave('help', 'UpwaveNoProgress')).stdout).toMatch(/^UpwaveNoProgress\n/);
  });

  it('has the reference service as a program of one file, and for tests in TypeScript', async () => {
    expect((await execute('upwave-service', ['--openapi'], inFolder())).stdout).toMatch(/^{\s*"openapi"/);
    const program = await readFile(join(folder, 'lib/node_modules/upwave/dist/service.mjs'), 'utf8');
    for (const library of ['bullmq', 'ioredis']) expect(program).not.toContain(library);
    const tried = `import { parseScenario, startReferenceService } from 'upwave/reference-service';
      const service = await startReferenceService({ credentials: [], host: '127.0.0.1', port: 0, speed: 1,
        state: null, onStateFailure: () => {}, scenario: parseScenario({ fleet: { size: 3 } }) });
      console.log(service.world.collectors().length);
      await service.close();`;
    const file = join(folder, 'lib/tried.mjs');
    await writeFile(file, tried);
    expect((await execute(process.execPath, [file], inFolder())).stdout).toBe('3\n');
    const types = join(
      folder,
      'lib/node_modules/upwave/dist/types/reference-service/server/reference-service.d.ts',
    );
    expect((await stat(types)).size).toBeGreaterThan(100);
  });

  it('brings the dependencies that the lock-file names, so that it installs without a registry', async () => {
    const installed = join(folder, 'lib/node_modules/upwave/node_modules/light-my-request/package.json');
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(installed, 'utf8')));
    expect(version).toBe(overrides['light-my-request']);
  });

  it('upgrades a simulated fleet', async () => {
    const { stdout } = await upwave('demo');
    expect(stdout).toMatch(/^ ?rest\s.*passed/m);
    expect(stdout).toMatch(/To look around at the end: upwave demo --keep\n$/);
  });
});
