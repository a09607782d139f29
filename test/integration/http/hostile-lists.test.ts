import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startScriptedServer } from '../../support/network/scripted-server.ts';

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));

// It reads one list after the other, and measures the processor time of its longest turn, which other processes of the
// machine do not change.
const reader = `
  const [{ makeHttpClient }, { pageCollectors }] = await Promise.all(
    ['http/client.js', 'contract/collector-management/listed-rows.js'].map((file) => import('${dist}' + file)),
  );
  const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  const client = makeHttpClient({ baseUrl: process.argv[1], timeouts: { totalMs: 60_000 } });
  const results = [];
  for (let offset = 0; offset < Number(process.argv[2]); offset += 1) {
    let [last, longest, isDone] = [cpuMs(), 0, false];
    const tick = () => {
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isDone) setImmediate(tick);
    };
    tick();
    const end = await client.call(pageCollectors, { query: { offset } }).then(
      ({ body: { rows } }) => rows.filter((row) => row !== null).length + ' of ' + rows.length,
      ({ kind }) => kind,
    );
    isDone = true;
    results.push({ end, longest });
  }
  console.log(JSON.stringify({ results, maxRssMb: process.resourceUsage().maxRSS / 1024 }));
  process.exit();
`;

const many = (count: number, text: string) => Buffer.alloc(count * text.length, text);
const list = (...parts: readonly Buffer[]) =>
  Buffer.concat([Buffer.from('{"collectors":['), ...parts, Buffer.from(']}')]);
const named = (rows: number, names: number) =>
  Buffer.from(
    from(rows)
      .map(
        (id) =>
          `{"id":${id},"fields":{${from(names)
            .map((at) => `"f${id}-${at}":1`)
            .join()}}}`,
      )
      .join(','),
  );
const from = (count: number) => Array.from({ length: count }, (_, at) => at);

// The body and what is read of it.
const bodies: ReadonlyArray<readonly [name: string, body: Buffer, end: string]> = [
  ['one row of 8 million levels', list(many(7_900_000, '['), many(7_900_000, ']')), '0 of 1'],
  ['the same, not closed', list(many(16_000_000, '[')), 'undecodable'],
  ['11 million rows', list(many(10_400_000, '{},'), Buffer.from('{}')), 'tooLarge'],
  ['one row of 5 million lists', list(Buffer.from('['), many(5_000_000, '[],'), Buffer.from('0]')), '0 of 1'],
  [
    '120 rows of 62,000 levels',
    list(
      ...from(120).map(() => Buffer.concat([many(62_000, '['), many(62_000, ']'), Buffer.from(',')])),
      Buffer.from('{"id":1}'),
    ),
    '1 of 121',
  ],
  ['10,000 rows of 40 names each, all different', list(named(10_000, 40)), '10000 of 10000'],
  [
    'a string of 8 million escapes',
    list(Buffer.from('{"id":12345678901234567,"x":"'), many(7_500_000, '\\"'), Buffer.from('"}')),
    '0 of 1',
  ],
];

describe('lists that are made to stop a daemon', () => {
  it('neither need much memory nor stop other work for long (P4, P11)', async () => {
    const server = await startScriptedServer(
      ({ query }, response) => void response.end(bodies[Number(query.get('offset'))]?.[1]),
    );
    onTestFinished(() => server.close());
    const args = ['--max-old-space-size=128', '--input-type=module', '--eval', reader];
    const ran = await promisify(execFile)(process.execPath, [...args, server.url, String(bodies.length)]);
    const { results, maxRssMb } = JSON.parse(ran.stdout) as {
      readonly results: ReadonlyArray<{ readonly end: string; readonly longest: number }>;
      readonly maxRssMb: number;
    };
    const names = bodies.map(([name]) => name);
    expect(results.map(({ end }, at) => [names[at], end])).toEqual(
      bodies.map(([name, , end]) => [name, end]),
    );
    expect(results.filter(({ longest }) => longest > 250)).toEqual([]);
    expect(maxRssMb).toBeLessThan(300);
  });
});
