import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { baseImage, docker, inspect, serviceImage, sizeOf } from './docker.ts';

// The base has Node. What is ours is one file and the licence.
const ownMebibytesMax = 4;

describe('the image of the reference service alone', () => {
  let id: string;
  beforeAll(async () => {
    const bare = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'];
    const credentials = ['--access-id', 'demo', '--access-key', 'demo-key'];
    const run = ['run', '--detach', '--publish', '127.0.0.1:0:8080', ...bare, serviceImage, ...credentials];
    id = await docker(...run, '--fleet', '7');
  });
  afterAll(() => docker('rm', '--force', id));

  it('becomes healthy as a user other than root, with a read-only root', async () => {
    const healthy = async () => (await inspect(id)).State.Health?.Status === 'healthy';
    await until('its health', healthy);
    expect((await inspect(id)).Config.User).toBe('node');
  });

  it('is reached from outside its container', async () => {
    const published = (await inspect(id)).NetworkSettings.Ports['8080/tcp']?.[0]?.HostPort;
    const response = await fetch(`http://127.0.0.1:${published}/reference/health`);
    expect(await response.json()).toMatchObject({ status: 'ok', collectors: 7 });
  });

  it('has one file of its own, and no package', async () => {
    expect(await docker('exec', id, 'ls', '/app')).toBe('LICENSE\nservice.mjs');
    const ownMebibytes = ((await sizeOf(serviceImage)) - (await sizeOf(baseImage))) / 2 ** 20;
    expect(ownMebibytes).toBeLessThan(ownMebibytesMax);
  });

  it('ends with 0 on SIGTERM', async () => {
    await docker('stop', '--time', '10', id);
    expect((await inspect(id)).State).toMatchObject({ Status: 'exited', ExitCode: 0 });
  });
});
