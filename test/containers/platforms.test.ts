import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type PlatformBuilder, platformBuilder, runScript } from './docker.ts';

// Where no public registry is reached, these name images of another one: the base for both architectures, and the scanner.
const {
  NODE_IMAGE: baseImage = 'node:24-bookworm-slim',
  SBOM_GENERATOR: generator = 'docker/buildkit-syft-scanner:stable-1',
} = process.env;

const Descriptor = z.object({
  digest: z.string(),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
});
const Index = z.object({ manifests: z.array(Descriptor) });
const Manifest = z.object({
  config: Descriptor,
  layers: z.array(Descriptor.extend({ annotations: z.record(z.string(), z.string()).optional() })),
});
const ImageConfig = z.object({
  architecture: z.string(),
  config: z.object({ User: z.string(), Labels: z.record(z.string(), z.string()) }),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
});

const builder: PlatformBuilder = await platformBuilder();

// The title says why it is skipped.
describe.skipIf(!builder.isThere)(`the image for two architectures (${builder.reason})`, () => {
  let folder: string;
  const read = async <T>(schema: z.ZodType<T>, ...path: string[]): Promise<T> =>
    schema.parse(JSON.parse(await readFile(join(folder, ...path), 'utf8')));
  const blob = <T>(schema: z.ZodType<T>, digest: string) => read(schema, 'blobs', ...digest.split(':'));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upwave-platforms-'));
    const options = ['--network', 'host', '--build-arg', `NODE_IMAGE=${baseImage}`];
    const output = `--output=type=oci,tar=false,dest=${folder}`;
    await runScript('deploy/build-image.sh', 'upwave', output, ...options, `--sbom=generator=${generator}`);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is one index, whose images differ in their base alone and are labelled alike', async () => {
    const outer = await read(Index, 'index.json');
    const { manifests } = await blob(Index, outer.manifests[0]?.digest ?? '');
    const images = manifests.filter(({ platform }) => platform?.os === 'linux');
    expect(images.map(({ platform }) => platform?.architecture)).toEqual(['amd64', 'arm64']);
    const configs = await Promise.all(
      images.map(async ({ digest }) => blob(ImageConfig, (await blob(Manifest, digest)).config.digest)),
    );
    expect(configs.map(({ architecture }) => architecture)).toEqual(['amd64', 'arm64']);
    const [one, other] = configs.map(({ config }) => ({ user: config.User, labels: config.Labels }));
    expect(one).toEqual(other);
    expect(one?.labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}$/);
  });

  it('has an SBOM and a provenance attested for each architecture', async () => {
    const outer = await read(Index, 'index.json');
    const { manifests } = await blob(Index, outer.manifests[0]?.digest ?? '');
    const attested = await Promise.all(
      manifests
        .filter(({ platform }) => platform?.os === 'unknown')
        .map(async ({ digest }) =>
          (await blob(Manifest, digest)).layers.map(({ annotations }) => annotations),
        ),
    );
    const kinds = attested.map(
      (layers) => new Set(layers.map((each) => each?.['in-toto.io/predicate-type'])),
    );
    const expected = new Set(['https://slsa.dev/provenance/v0.2', 'https://spdx.dev/Document']);
    expect(kinds).toEqual([expected, expected]);
    expect(await readdir(folder)).toContain('oci-layout');
  });
});
