import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const execute = promisify(execFile);

// A running engine answers in milliseconds.
const engineAnswersWithinMs = 2_000;
const answerCharactersMax = 64 * 1024 * 1024;

/** Whether a Docker engine answers on this machine. */
export async function isEngineThere(): Promise<boolean> {
  const args = ['version', '--format', '{{.Server.Version}}'];
  return execute('docker', args, { timeout: engineAnswersWithinMs }).then(
    () => true,
    () => false,
  );
}

/** Runs Docker's own client, as an operator does, and gives what it prints. @throws when it fails */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await execute('docker', args, { maxBuffer: answerCharactersMax });
  return `${stdout}${stderr}`.trim();
}

/** Runs a script of the project. @throws when it fails */
export async function runScript(path: string, ...args: readonly string[]): Promise<void> {
  await execute('bash', [path, ...args], { maxBuffer: answerCharactersMax });
}

export const baseImage = 'node:24-bookworm-slim';

/** The image of the reference service alone, as the guide names it. */
export const serviceImage = 'upwave-service';

/** Builds an image with the script of the project, from the layers of the last build where nothing changed. */
export async function buildFromScript(image: string, ...options: readonly string[]): Promise<void> {
  // On the machine's own network: its package registry may be reachable from nowhere else.
  const args = ['--network', 'host', '--build-arg', `NODE_IMAGE=${baseImage}`, '--tag', image, ...options];
  const script = fileURLToPath(new URL('../../deploy/build-image.sh', import.meta.url));
  await runScript(script, image, ...args);
}

export const buildServiceImage = () => buildFromScript(serviceImage, '--target', 'service');

// The filter names one container, so the answer has one.
const Inspection = z.tuple([
  z.object({
    State: z.object({
      Status: z.string(),
      ExitCode: z.number(),
      Health: z.object({ Status: z.string() }).optional(),
    }),
    Config: z.object({ User: z.string() }),
    HostConfig: z.object({ ReadonlyRootfs: z.boolean() }),
    NetworkSettings: z.object({
      Ports: z.record(z.string(), z.array(z.object({ HostPort: z.string() })).nullable()),
    }),
  }),
]);

/** What the engine knows of a container right now; its published ports change with each start. */
export async function inspect(containerId: string): Promise<z.infer<typeof Inspection>[0]> {
  return Inspection.parse(JSON.parse(await docker('inspect', containerId)))[0];
}

export interface PlatformBuilder {
  readonly isThere: boolean;
  /** Which builder it is, or why there is none. */
  readonly reason: string;
}

/** Whether buildx can build for several platforms here: with the containerd image store, or with a builder of its own. */
export async function platformBuilder(): Promise<PlatformBuilder> {
  const answers = (...args: string[]) => docker(...args).catch(() => undefined);
  const [version, status = '', present = ''] = await Promise.all([
    answers('buildx', 'version'),
    answers('info', '--format', '{{.DriverStatus}}'),
    answers('buildx', 'inspect'),
  ]);
  if (version === undefined) return { isThere: false, reason: 'skipped: docker buildx is not installed' };
  const isThere = status.includes('io.containerd.snapshotter') || !/^Driver: +docker$/m.test(present);
  const missing = 'skipped: the engine has no containerd image store, and buildx no builder of its own';
  return { isThere, reason: isThere ? version : missing };
}

/** Bytes of an image, its base included. */
export async function sizeOf(image: string): Promise<number> {
  return Number(await docker('image', 'inspect', '--format', '{{.Size}}', image));
}
