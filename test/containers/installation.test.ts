import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RolloutStatus } from '../../src/contract/admin/rollout-status.ts';
import { until } from '../support/until.ts';
import { baseImage, docker, inspect, isEngineThere, sizeOf } from './docker.ts';
import { buildImage, credentials, type Installation, image, startInstallation } from './installation.ts';

if (!(await isEngineThere())) throw new Error('the container tests need a Docker engine, and none answers');
const checkEveryMs = 250;
const buildWithinMs = 600_000;
const nativeParts = "find /app -name '*.node'";

const { devDependencies } = z
  .object({ devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

const lock = z
  .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
  .parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')));

describe('the image', () => {
  beforeAll(buildImage, buildWithinMs);

  it('runs as a user other than root, who may change nothing in it', async () => {
    const script = 'id -u; touch /app/x 2>/dev/null && echo changed || echo refused';
    const [uid, change] = (await inImage('sh', '-c', script)).split('\n');
    expect(Number(uid)).toBeGreaterThan(0);
    expect(change).toBe('refused');
  });

  it('contains no development dependency, no source, no native part, and little beside its base', async () => {
    const inside = (
      await inImage('sh', '-c', `ls -d /app/node_modules/* /app/node_modules/@*/* /app/*; ${nativeParts}`)
    ).split('\n');
    expect(inside).toContain('/app/node_modules/bullmq');
    // Some that tests use are also at home in what runs: the lock-file tells them apart.
    const isForDevelopment = (name: string) => lock.packages[`node_modules/${name}`]?.dev === true;
    const unwanted = Object.keys(devDependencies)
      .filter(isForDevelopment)
      .map((name) => `node_modules/${name}`)
      .concat('src', 'test');
    expect(unwanted.filter((path) => inside.includes(`/app/${path}`))).toEqual([]);
    // It is built on one architecture for all of them.
    expect(inside.filter((path) => path.endsWith('.node'))).toEqual([]);
    const ownMebibytes = ((await sizeOf(image)) - (await sizeOf(baseImage))) / 2 ** 20;
    expect(ownMebibytes).toBeLessThan(80);
  });

  it('is labelled with its version and the commit, and holds a list of its parts', async () => {
    const labels = z
      .record(z.string(), z.string())
      .parse(JSON.parse(await docker('image', 'inspect', '--format', '{{json .Config.Labels}}', image)));
    expect(labels['org.opencontainers.image.version']).toMatch(/^\d+\.\d+\.\d+$/);
    expect(labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}$/);
    const sbom = z
      .object({ bomFormat: z.literal('CycloneDX'), components: z.array(z.object({ name: z.string() })) })
      .parse(JSON.parse(await inImage('cat', '/app/sbom.cdx.json')));
    const names = sbom.components.map(({ name }) => name);
    expect(names).toContain('bullmq');
    expect(names).not.toContain('vitest');
  });

  it('prints its version with a read-only root, without a network and without a privilege', async () => {
    const bare = ['--read-only', '--network', 'none', '--cap-drop', 'ALL'];
    expect(await docker('run', '--rm', ...bare, image, '--version')).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('an installation in containers', () => {
  let installation: Installation;
  beforeAll(async () => {
    await buildImage();
    installation = await startInstallation();
  }, buildWithinMs);
  afterAll(() => installation?.stop());

  it('becomes healthy and ready, with a read-only root', async () => {
    const { State, Config, HostConfig } = await inspect(installation.daemonId);
    expect(State.Health?.Status).toBe('healthy');
    expect(Config.User).toBe('node');
    expect(HostConfig.ReadonlyRootfs).toBe(true);
    const url = await installation.daemonUrl();
    const answer = await until('readiness', async () => {
      await wait(checkEveryMs);
      const ready = await fetch(`${url}/readyz`);
      return ready.ok ? ready.json() : undefined;
    });
    expect(answer).toMatchObject({ ready: true, checks: { redis: { ok: true }, service: { ok: true } } });
  });

  it('shows its metrics only to holders of the token', async () => {
    const url = await installation.daemonUrl();
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const authorization = `Bearer ${credentials.token}`;
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization } });
    expect(await metrics.text()).toContain('upwave_leader 1');
  });

  it('stops within 10 s in the middle of a rollout, continues where it was, and creates nothing twice (P1, P11)', async () => {
    const { daemonId } = installation;
    await until('upgrades on their way, and some that ended', async () => {
      const status = await currentStatus(installation);
      return status !== undefined && status.inFlight > 0 && status.counts.succeeded > 10;
    });
    // Ten seconds, then it would be killed, and its exit code would be 137.
    await docker('stop', '--time', '10', daemonId);
    expect((await inspect(daemonId)).State).toMatchObject({ Status: 'exited', ExitCode: 0 });
    const before = await installation.record();
    expect(before.creates.length).toBeGreaterThan(0);

    await docker('start', daemonId);
    const status = await until(
      'the end of the rollout',
      async () => {
        const current = await currentStatus(installation);
        return current?.endedAt === null ? undefined : current;
      },
      180_000,
    );
    const after = await installation.record();
    expect({ state: status.state, reason: status.reason }).toMatchObject({ state: 'succeeded' });
    expect(status.counts.succeeded).toBe(status.planned);
    expect(after.creates.length).toBeGreaterThan(before.creates.length);
    expect(Object.values(after.createsPerCollector)).toEqual(Array(status.planned).fill(1));
    expect(after).toMatchObject({
      needlessCreates: 0,
      tasksInFlight: 0,
      throttled: { rate: 0, concurrency: 0 },
    });
    expect(after.tasksInFlightMax).toBeLessThanOrEqual(status.concurrency);
  });

  it('shows no secret in its log (P12)', async () => {
    const log = await docker('logs', installation.daemonId);
    const { accessId, accessKey, token } = credentials;
    const basic = Buffer.from(`${accessId}:${accessKey}`).toString('base64');
    expect(log).toContain('daemon.stopped');
    expect([accessKey, token, basic].filter((secret) => log.includes(secret))).toEqual([]);
  });
});

/** The newest rollout; undefined while there is none, or while the daemon is just starting. */
async function currentStatus(installation: Installation): Promise<RolloutStatus | undefined> {
  await wait(checkEveryMs);
  const rollouts = await installation.ask((client) => client.listRollouts()).catch(() => []);
  return rollouts[0];
}

function inImage(command: string, ...args: readonly string[]): Promise<string> {
  return docker('run', '--rm', '--entrypoint', command, image, ...args);
}
