import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../support/network/free-port.ts';
import {
  type Script,
  sendJson,
  sendText,
  startScriptedServer,
} from '../../support/network/scripted-server.ts';
import { aFolder, startUpwave } from '../../support/night/upwave-process.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const row = (id: number) => ({ id, name: `c${id}`, alive: true, collectorVersion: '19.1-1' });
const fields = Object.fromEntries(Array.from({ length: 300 }, (_, key) => [`key${key}`, 'v'.repeat(80)]));
const nested = `${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}`;

/** How the lists are answered. */
const fatAnswers: Readonly<Record<string, string | ((offset: number) => string)>> = {
  'a list of fourteen million zeros': `{"collectors":[${'0,'.repeat(14_000_000)}0]}`,
  'a row that is nested without end': `{"collectors":[{"id":1,"name":"a","x":${nested}},{"id":2,"name":"b"}]}`,
  'a list that is nested without end': `{"collectors":${nested}}`,
  'pages of fat rows without end': (offset) =>
    JSON.stringify({
      collectors: Array.from({ length: 1_000 }, (_, at) => ({ ...row(offset + at), fields })),
    }),
};

/** What a process used of a CPU so far, and the most memory it ever had. Linux alone tells. */
function usageOf(pid: number): { readonly cpuMs: number; readonly memoryMiB: number } {
  const fieldsOfStat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(fieldsOfStat[11]) + Number(fieldsOfStat[12]);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMs: ticks * 10, memoryMiB: Number(peak) / 1024 };
}

describe.runIf(process.platform === 'linux')('a daemon whose service gives answers without measure', () => {
  it('answers /healthz all the while, and takes less than 400 MiB', async () => {
    let answer: string | ((offset: number) => string) = '{"collectors":[]}';
    let pages = 0;
    let errors = 0;
    const script: Script = ({ path, query }, response) => {
      if (answer === 'errors') {
        errors += 1;
        return sendText(response, 400, `{"errors":[${'0,'.repeat(400_000)}0]}`, {
          'content-type': 'application/json',
        });
      }
      if (path.endsWith('/targets'))
        return sendJson(response, 200, { targets: [{ version: '19.2-1', latest: true }] });
      pages += 1;
      const text = typeof answer === 'string' ? answer : answer(Number(query.get('offset')));
      sendText(response, 200, text, { 'content-type': 'application/json' });
    };
    const server = await startScriptedServer(script);
    onTestFinished(server.close);
    const folder = aFolder(onTestFinished);
    const port = await findFreePort();
    const service = { ...testSecrets.commandLine, baseUrl: server.url, requestsPerSecond: 50 };
    const rollouts = [{ name: 'all', schedule: '* * * * * *' }];
    const config = folder.write('upwave.yaml', { service, http: { host: '127.0.0.1', port }, rollouts });
    const daemon = startUpwave({
      args: ['run', '--redis', 'embedded', '--config', config],
      cwd: folder.path,
    });
    onTestFinished(async () => {
      daemon.kill('SIGKILL');
      await daemon.ended;
    });
    const isWell = () =>
      request(`http://127.0.0.1:${port}/healthz`).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode === 200;
        },
        () => false,
      );
    await until('the daemon to run', isWell);

    let longestCpuMs = 0;
    const pollUntil = async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        const before = usageOf(daemon.pid).cpuMs;
        expect(await isWell(), daemon.err()).toBe(true);
        longestCpuMs = Math.max(longestCpuMs, usageOf(daemon.pid).cpuMs - before);
        await setTimeout(10);
      }
    };
    for (const [what, fat] of Object.entries(fatAnswers)) {
      answer = fat;
      const goal = pages + 2;
      await pollUntil(() => pages >= goal);
      expect.soft(usageOf(daemon.pid).memoryMiB, what).toBeLessThan(400);
    }
    answer = 'errors';
    await pollUntil(() => errors >= 2);
    // What the daemon worked while one of them waited, whatever else the machine did meanwhile.
    expect(longestCpuMs).toBeLessThan(400);
  });
});
