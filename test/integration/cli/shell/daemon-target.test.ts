import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withDaemon } from '../../../../src/cli/shell/daemon-target.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { withSection } from '../../../support/config-fixtures.ts';
import { makeFakeOperations } from '../../../support/fake-operations.ts';
import { sendText, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { openReferenceService } from '../../../support/reference-client.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

/** A config that names this host and a port on which no daemon listens. */
function configOfDaemonAt(host: string): string {
  return aConfig(withSection(`http: { host: "${host}", port: 1 }`));
}

function aConfig(text: string): string {
  const folder = aFolder();
  const path = join(folder, 'upwave.yaml');
  writeFileSync(path, text);
  return path;
}

describe('a command that asks the daemon', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:1'],
    ['::1', 'http://[::1]:1'],
  ])('calls the daemon at http.host, and names the address: %s', async (host, place) => {
    const asked = withDaemon({ config: configOfDaemonAt(host) }, (client) => client.listRollouts());
    await expect(asked).rejects.toMatchObject({
      exitCode: exitCodes.unreachable,
      message: expect.stringContaining(place),
    });
  });

  it('asks for --url where http.port is 0, because the port of the daemon is unknown', async () => {
    const target = { config: aConfig(withSection('http: { port: 0 }')) };
    await expect(withDaemon(target, (client) => client.listRollouts())).rejects.toMatchObject({
      message: expect.stringContaining('--url'),
    });
  });

  it('names the source of the token, where the daemon needs one', async () => {
    const api = await startFakeAdminApi(makeFakeOperations({ rollouts: [] }), {
      token: 'a-token-of-this-test',
    });
    onTestFinished(api.close);
    vi.stubEnv('UPWAVE_TOKEN', '');
    const asked = withDaemon({ config: 'none', url: api.url }, (client) => client.listRollouts());
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining('set UPWAVE_TOKEN') });
  });

  it('says what to check where another program answers', async () => {
    const html = { 'content-type': 'text/html' };
    const other = await startScriptedServer((_request, r) => sendText(r, 404, '<h1>hello</h1>', html));
    onTestFinished(other.close);
    const asked = withDaemon({ config: 'none', url: other.url }, (client) => client.listRollouts());
    await expect(asked).rejects.toMatchObject({
      exitCode: exitCodes.unreachable,
      message: `${other.url} is not upwave's admin API: it answered 404 with HTML; check --url, UPWAVE_URL, or http.host and http.port of the config`,
    });
  });

  it('asks for no token of upwave where the service rejects the credentials', async () => {
    const { service } = await openReferenceService();
    const { url } = service;
    const asked = withDaemon({ config: 'none', url }, (client) => client.listRollouts());
    await expect(asked).rejects.toMatchObject({
      exitCode: exitCodes.unreachable,
      message: expect.stringMatching(
        / is not upwave's admin API: it answered 401 .*; check --url, UPWAVE_URL/,
      ),
    });
  });

  it('finds the daemon by UPWAVE_URL without reading a config, and prefers --url', async () => {
    vi.stubEnv('UPWAVE_URL', 'http://127.0.0.1:2');
    const ask = (url?: string) =>
      withDaemon({ config: '/no/such/upwave.yaml', ...(url !== undefined && { url }) }, (client) =>
        client.listRollouts(),
      );
    await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('http://127.0.0.1:2') });
    await expect(ask('http://127.0.0.1:3')).rejects.toMatchObject({
      message: expect.stringContaining('http://127.0.0.1:3'),
    });
  });

  it('shows how to ask the daemon meanwhile, where its config cannot be read', async () => {
    vi.stubEnv('UPWAVE_URL', '');
    const ask = (config: string) => withDaemon({ config }, (client) => client.listRollouts());
    const error = await ask(aConfig('http: {\n')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: exitCodes.usageOrConfig });
    const message = error instanceof Error ? error.message : '';
    expect(message.split('\n').at(-1)).toBe(
      'the daemon can be asked without the config: name its address by --url, such as http://127.0.0.1:9464, or by UPWAVE_URL; the token is read from UPWAVE_TOKEN',
    );
    expect(message).toMatch(/upwave\.yaml:\d+:\d+: .*\n/);
    // Where there is none, the daemon is perhaps to be set up first.
    await expect(ask('/no/such/upwave.yaml')).rejects.toMatchObject({
      message: expect.stringMatching(/`upwave init` writes a first one$/),
    });
  });

  describe('with a config whose secrets are missing', () => {
    const variable = (name: string) => `$`.concat(`{${name}}`);
    const secrets = `service: { baseUrl: https://api.example.com/api, accessIdFile: /no/such/id, accessKey: "${variable('NO_SUCH_KEY')}" }
redis: { url: "redis://127.0.0.1:6379", passwordFile: /no/such/password }
rollouts: [{ name: all, waves: [{ name: canary, size: 1 }, { name: rest }] }]
`;
    const http = (token: string) => `http: { host: 0.0.0.0, port: 1, token: "${token}" }\n`;
    const ask = (config: string) => withDaemon({ config }, (client) => client.listRollouts());

    it('still calls the daemon', async () => {
      const config = aConfig(secrets + http('a-token-of-this-test'));
      await expect(ask(config)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    });

    it('takes the token from UPWAVE_TOKEN, or names the missing variable', async () => {
      const config = aConfig(secrets + http(variable('NO_SUCH_TOKEN')));
      await expect(ask(config)).rejects.toMatchObject({
        exitCode: exitCodes.usageOrConfig,
        message: expect.stringContaining('NO_SUCH_TOKEN'),
      });
      vi.stubEnv('UPWAVE_TOKEN', 'a-token-of-this-test');
      await expect(ask(config)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    });

    it('calls the daemon even where a policy has a mistake, because the daemon has its own config', async () => {
      const config = aConfig(`rollouts: [{ name: all, concurrency: many }]\n${http('a-token-of-this-test')}`);
      await expect(ask(config)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    });
  });
});
