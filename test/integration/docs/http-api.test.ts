import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../src/admin-api/admin-api.ts';
import type { StartPreview } from '../../../src/contract/admin/policies.ts';
import { exampleBodies } from '../../sources/references/http-examples.ts';
import { ending } from '../../support/ending.ts';
import { aRolloutStatus, makeFakeOperations } from '../../support/fake-operations.ts';
import { nightPolicy, scan } from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { startFakeAdminApi } from '../../support/start-fake-admin-api.ts';

const guide = readFileSync(new URL('../../../src/docs/guides/http-api.md', import.meta.url), 'utf8');
const token = 'correct-horse-battery-staple';

/** Each `curl` of the guide, with the status that it states. */
const examples = [...guide.matchAll(/^(curl (?:.*\\\n)*.*)$/gm)].map(([, text = '']) => ({
  command: text.replace(/ +# \d+$/, ''),
  status: Number(/ # (\d+)$/.exec(text)?.[1] ?? 200),
}));
const isVerb = ({ command }: { readonly command: string }) => command.includes(" -d '");
const isStream = ({ command }: { readonly command: string }) => command.includes(' -N ');

interface Called {
  readonly url: string;
  readonly policy: string;
  readonly rollout: string;
  readonly collector: string;
}

/** Runs a line of the guide in a shell, as its readers do. @returns the body, then the status in a line of its own */
async function run(command: string, { url, policy, rollout, collector }: Called): Promise<string> {
  const quiet = `curl() { /usr/bin/curl -sS --max-time 30 -w '\\n%{http_code}' "$@"; }\n`;
  const variables = { POLICY: policy, ROLLOUT: rollout, COLLECTOR: collector };
  const { stdout } = await promisify(execFile)('sh', ['-c', `${quiet}${command}`], {
    env: { PATH: process.env['PATH'], UPWAVE_URL: url, UPWAVE_TOKEN: token, ...variables },
  });
  return stdout;
}

const statusOf = (output: string) => Number(output.slice(output.lastIndexOf('\n') + 1));

const preview: StartPreview = {
  ...{ policy: 'production', targetBuild: '19.536-4', planHash: '', approval: false, planned: 2 },
  waves: [],
  leftOut: [],
  concurrency: 50,
  estimate: { durationMs: 7_980_000, plusMinusMs: 1_800_000, requests: 1_200 },
  failedBefore: 0,
  expectedFailures: null,
  earlier: null,
  window: { isOpen: true, until: null, reason: '' },
};

const { aNight } = useNights();

async function aFake(parts: Partial<AdminApiParts> = {}): Promise<Called> {
  const rollout = aRolloutStatus();
  const done = { kind: 'done', subject: { kind: 'build', build: '19.536-4' } } as const;
  const operations = makeFakeOperations({
    rollouts: [rollout],
    preview: { kind: 'planned', preview: { ...preview, planHash: exampleBodies.startPolicy.planHash } },
    holdResults: { [exampleBodies.holdSubject.subject]: done },
  });
  const { url } = ending(await startFakeAdminApi(operations, { token, ...parts }));
  return { url, policy: rollout.policy, rollout: rollout.id, collector: 'web-7' };
}

const hasCurl = existsSync('/usr/bin/curl');
if (!hasCurl) process.stdout.write('no /usr/bin/curl: the tests of the HTTP reference are skipped\n');

describe.skipIf(!hasCurl)('the reference of the HTTP API', () => {
  it('has an entry with an example for each operation that the daemon serves', async () => {
    const { url } = await aFake();
    const answer = await fetch(`${url}/api/v1/openapi.json`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const entries = [...guide.matchAll(/^### `([A-Z]+ \/\S*)`\n(?:(?!^### )[\s\S])*?```sh\ncurl/gm)];
    expect(served.length).toBeGreaterThan(20);
    expect(entries.map(([, name = '']) => name).toSorted((a, b) => a.localeCompare(b))).toEqual(
      served.toSorted((a, b) => a.localeCompare(b)),
    );
  });

  it('has reads that a daemon answers with the status that the guide states', async (test) => {
    const night = await aNight(test, { http: { token } });
    const daemon = await night.startDaemon();
    const [collector] = night.service.world.collectors();
    const called = {
      ...{ url: daemon.url, policy: nightPolicy, collector: String(collector?.facts.id) },
      rollout: 'none',
    };
    const reads = examples.filter((example) => !isVerb(example) && !isStream(example));
    // A policy whose rollout runs has no preview.
    const isPreview = ({ command }: { readonly command: string }) => command.includes('/start-preview');
    const inOrder = [...reads.filter(isPreview), ...reads.filter((example) => !isPreview(example))];
    const answered: typeof reads = [];
    for (const example of inOrder) {
      if (called.rollout === 'none' && !isPreview(example)) called.rollout = await scan(daemon);
      answered.push({ ...example, status: statusOf(await run(example.command, called)) });
    }
    expect(answered.length).toBeGreaterThan(15);
    expect(answered).toEqual(inOrder);
  });

  it.each(examples.filter(isVerb))('has a verb that is answered with $status: $command', async (example) => {
    expect(statusOf(await run(example.command, await aFake()))).toBe(example.status);
  });

  it('names the events of the stream, and shows how to read it', async () => {
    const [example] = examples.filter(isStream);
    const read = (called: Called) => run(`${example?.command} --max-time 2 || true`, called);
    const working = await read(await aFake());
    const broken = await read(
      await aFake({
        operations: {
          ...makeFakeOperations({ rollouts: [] }),
          listRollouts: () => Promise.reject(new Error()),
        },
      }),
    );
    expect(working).toMatch(/^: welcome\n\nevent: rollouts\ndata: \{"ids":\["/);
    const sent = [...(working + broken).matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
    const listed = [...guide.matchAll(/^\| `(\w+)` \| (?:at first|while)/gm)].map(([, name]) => name);
    expect(listed).toEqual([...new Set(sent)]);
  });
});
