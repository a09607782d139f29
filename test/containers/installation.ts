import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GenericContainer, Network, Wait } from 'testcontainers';
import { type AdminClient, makeAdminClient } from '../../src/admin-api/client/admin-client.ts';
import type { RecordSnapshot } from '../../src/reference-service/api/service-record.ts';
import { testSecrets } from '../support/test-secrets.ts';
import { buildFromScript, inspect } from './docker.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const image = 'upwave-test';
/** The secrets that no log may show. */
export const credentials = {
  ...testSecrets.containers,
  token: 'containers-token-7c41',
} as const;

/** The three containers of docker-compose.yml, on a network of their own. */
export interface Installation {
  readonly daemonId: string;
  /** Where the daemon is reached now. */
  daemonUrl(): Promise<string>;
  /** Asks the daemon as an operator does. */
  ask<T>(question: (client: AdminClient) => Promise<T>): Promise<T>;
  /** The service's own account of what was asked of it. */
  record(): Promise<RecordSnapshot>;
  stop(): Promise<void>;
}

/** Builds the image, from the layers of the last build where nothing changed. */
export async function buildImage(): Promise<void> {
  await buildFromScript(image);
}

/** Starts Redis, the reference service on a quiet day, and the daemon with the config of the compose file. */
export async function startInstallation(): Promise<Installation> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const configFolder = await mkdtemp(join(tmpdir(), 'upwave-containers-'));
    closers.push(() => rm(configFolder, { recursive: true, force: true }));
    const config = await writeConfig(configFolder);
    const secrets = await writeSecrets(configFolder);

    const network = await new Network().start();
    closers.push(() => network.stop());

    const redis = await new GenericContainer('redis:7-bookworm')
      .withCommand([
        'redis-server',
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
        '--protected-mode',
        'no',
      ])
      .withNetwork(network)
      .withNetworkAliases('redis')
      .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
      .start();
    closers.push(() => redis.stop({ timeout: 0 }));

    const service = await new ReadOnlyContainer(image)
      .withCommand([
        ...['service', '--host', '0.0.0.0', '--port', '8080', '--speed', '100', '--fleet', '120'],
        ...['--scenario', '/app/config/scenarios/calm.yaml'],
      ])
      .withEnvironment({
        UPWAVE_ACCESS_ID: credentials.accessId,
        UPWAVE_ACCESS_KEY: credentials.accessKey,
      })
      .withNetwork(network)
      .withNetworkAliases('service')
      .withExposedPorts(8080)
      .withWaitStrategy(Wait.forLogMessage('reference service at'))
      .start();
    closers.push(() => service.stop({ timeout: 0 }));

    const daemon = await new ReadOnlyContainer(image)
      .withCommand(['run', '--config', '/etc/upwave/upwave.yaml'])
      .withBindMounts([
        { source: config, target: '/etc/upwave/upwave.yaml', mode: 'ro' },
        { source: secrets, target: '/run/secrets', mode: 'ro' },
      ])
      .withNetwork(network)
      .withExposedPorts(9464)
      .withWaitStrategy(Wait.forHealthCheck())
      .withStartupTimeout(60_000)
      .start();
    closers.push(() => daemon.stop({ timeout: 0 }));

    const daemonId = daemon.getId();
    const daemonUrl = async () => `http://${daemon.getHost()}:${await publishedPort(daemonId, 9464)}`;
    return {
      daemonId,
      daemonUrl,
      ask: async (question) => {
        const client = makeAdminClient({ baseUrl: await daemonUrl(), token: credentials.token });
        try {
          return await question(client);
        } finally {
          await client.close();
        }
      },
      record: async () => {
        const { accessId, accessKey } = credentials;
        const basic = Buffer.from(`${accessId}:${accessKey}`).toString('base64');
        const place = `http://${service.getHost()}:${service.getMappedPort(8080)}/reference/record`;
        const answer = await fetch(place, { headers: { authorization: `Basic ${basic}` } });
        return (await answer.json()) as RecordSnapshot;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The security options of the compose file. */
class ReadOnlyContainer extends GenericContainer {
  constructor(name: string) {
    super(name);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges:true');
  }
}

/** A copy of the compose file's config that the container's user may read, whatever this checkout's modes are. */
async function writeConfig(folder: string): Promise<string> {
  const path = join(folder, 'config', 'upwave.yaml');
  await mkdir(join(folder, 'config'));
  await writeFile(path, await readFile(join(root, 'deploy/compose/demo.yaml')), { mode: 0o644 });
  return path;
}

/** As the compose file's secrets: a file each. */
async function writeSecrets(folder: string): Promise<string> {
  const path = join(folder, 'secrets');
  await mkdir(path);
  const { accessId, accessKey, token } = credentials;
  for (const [name, text] of Object.entries({ 'access-id': accessId, 'access-key': accessKey, token }))
    await writeFile(join(path, name), text, { mode: 0o644 });
  return path;
}

async function publishedPort(containerId: string, port: number): Promise<string> {
  const { NetworkSettings } = await inspect(containerId);
  const published = NetworkSettings.Ports[`${port}/tcp`]?.[0]?.HostPort;
  if (published === undefined) throw new Error(`port ${port} of ${containerId} is not published`);
  return published;
}
