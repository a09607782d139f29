import { describe, expect, it, onTestFinished } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { ending } from '../../support/ending.ts';
import { type Script, sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import type { CallResult } from '../../support/night/upwave-call.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { aReferenceService, type ReferenceSetup } from '../../support/reference-client.ts';

// JSON shows it in another form.
const quotedKey = 'the"access"key-4711';

/** `upwave …` with a config for this service, as words or as a line of them. */
function aCommand(baseUrl: string, accessKey = 'akey') {
  const service = { baseUrl, accessId: 'anid', accessKey, requestsPerSecond: 1_000 };
  const env = { UPWAVE_RETRY_FOR: '0s' };
  const desk = aDesk({ onTestFinished }, { service, rollouts: [{ name: 'all' }] }, { env });
  const upwave = (line: string, ...words: string[]) => desk.call(...line.split(' '), ...words);
  return { desk, upwave };
}

async function aService(scenario: ScenarioInput = {}) {
  const setup = ending(await aReferenceService({ fleet: { size: 30 }, ...scenario }));
  return { ...setup, ...aCommand(setup.service.baseUrl) };
}

async function aScript(script: Script) {
  const server = ending(await startScriptedServer(script));
  return { server, ...aCommand(`${server.url}/api`, quotedKey) };
}

/** Creates a collector, not through the command line. */
async function create(setup: ReferenceSetup, collector: object): Promise<number> {
  const body = { collector: { collectorType: 'Hosted', ...collector } };
  const answer = await setup.send('/v1/collectors', { method: 'POST', body });
  expect(answer.status).toBe(201);
  return answer.body.collector.id;
}

const read = async (setup: ReferenceSetup, id: number) =>
  (await setup.send(`/v1/collectors/${id}`)).body.collector;

/** Ends like this, with one line for a person on stderr, and nothing of our insides. */
function expectRefused({ code, err }: CallResult, exitCode: number, says: RegExp): void {
  expect(err).toMatch(says);
  expect(err).toMatch(/^upwave: [^\n]*\n$/);
  expect(err).not.toMatch(/^\s+at /m);
  expect(code).toBe(exitCode);
}

describe('a command on collectors and sources', () => {
  it.each([
    ['collectors list --filter sleeping', /Allowed choices are installed, hosted, dead, alive/],
    ['collectors list --offline-days 0', /at least 1 day/],
    ['collectors list --offline-days 3 --filter dead', /cannot be used with/],
    ['collectors list --match /(/', /--match is not a regular expression .* missing closing/],
    ['collectors create', /no fields given: use --from FILE, or --set name=value/],
    ['collectors create --from /no/such/file', /no such file/],
    ['collectors create --set name', /write name=value/],
    ['collectors update 1 --set alive=false', /alive can't be set: .*fields to set: name, desc/],
    ['collectors update 1 --set name=x --set catgeory=x', /did you mean "category"\?/],
    ['collectors delete-offline --yes', /--days/],
    ['sources create 1 --set nmae=x', /is "nmae" a typo for "name"\?/],
  ])('as `%s` ends with 2 before anything is sent', async (line, says) => {
    const { upwave } = aCommand('http://127.0.0.1:9');
    const { code, err } = await upwave(line);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
  });

  it('ends with 2 for a file with a field that no collector has, before anything is sent', async () => {
    const { upwave, desk } = aCommand('http://127.0.0.1:9');
    const file = desk.write('one.json', { collector: { name: 'one', catgeory: 'prod' } });
    const says = /one\.json: a collector has no field "catgeory"; did you mean "category"\?/;
    expectRefused(await upwave(`collectors create --from ${file}`), 2, says);
  });

  it('ends with 4 where the service is unreachable, and names the address', async () => {
    const { desk } = aCommand('http://127.0.0.1:9/api');
    const says = /cannot reach the service at http:\/\/127\.0\.0\.1:9\/api/;
    expectRefused(await desk.run('builds'), 4, says);
  });

  it('ends with 4 and another message where the answer is unusable', async () => {
    const { desk } = await aScript((_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html>Bad Gateway</html>');
    });
    const says = /^upwave: the service at http:\S+ gave no usable answer: .*502/;
    expectRefused(await desk.run('builds'), 4, says);
  });
});

describe('upwave collectors list', () => {
  it('shows every collector, or those that match', async () => {
    const setup = await aService();
    await create(setup, { name: 'web001.example.com', category: 'prod/web' });
    await create(setup, { name: 'web002.example.com' });
    const table = await setup.desk.run('collectors', 'list', '--match', 'WEB0*');
    expect(table.code).toBe(0);
    expect(table.out).toMatch(/│ id .*│ name .*│ build .*│ category/);
    expect(table.out).toMatch(/web001\.example\.com.*prod\/web/);
    expect(table.out).toMatch(/\n2 collectors\n$/);
    const list = async (...words: string[]): Promise<Array<Record<string, unknown>>> =>
      JSON.parse((await setup.upwave('collectors list --json', ...words)).out).collectors;
    const hosted = await list('--filter', 'hosted');
    expect(hosted.map(({ name }) => name)).toContain('web002.example.com');
    expect(new Set(hosted.map(({ collectorType }) => collectorType))).toEqual(new Set(['Hosted']));
    expect(await list()).toHaveLength(32);
    expect(await list('--match', '/^web00[13]/')).toHaveLength(1);
    expect((await setup.upwave('collectors list --match nothing-like-it')).out).toBe('no collector\n');
  });

  it('lets no control sequence reach the terminal, nor credentials that the service sends back (P12)', async () => {
    const name = 'red\u001b[31m\u009b\u202eevil\u2066';
    const { upwave } = await aScript(({ headers }, response) => {
      const description = `${headers.authorization} ${quotedKey}`;
      sendJson(response, 200, { collectors: [{ id: 1, name, category: 'a\nb', description }] });
    });
    const table = await upwave('collectors list');
    expect(table.out).toContain('red\\u001b[31m\\u009b\\u202eevil\\u2066');
    expect(table.out).toContain('a\\u000ab');
    const json = await upwave('collectors list --json');
    // Line feeds are our own.
    for (const { out } of [table, json]) {
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u2066]/u);
      expect(out).not.toMatch(/key-4711|Basic (?!\*)/);
    }
    expect(JSON.parse(json.out).collectors[0]).toMatchObject({ id: 1, name, category: 'a\nb' });
  });
});

describe('upwave collectors show', () => {
  it('finds a collector by its id or by any name, also a name that no request can carry', async () => {
    const setup = await aService();
    for (const name of ['web 001.köln.example.com', 'Cloud/Dev/100% \\;', '4711']) {
      const id = await create(setup, { name });
      const { out } = await setup.upwave('collectors show --json', name);
      expect(JSON.parse(out).collector).toMatchObject({ id, name });
    }
    const id = await create(setup, { name: 'by-id', fields: { team: 'core' } });
    const byId = await setup.upwave(`collectors show ${id}`);
    expect(byId.out).toMatch(/^name +by-id$/m);
    expect(byId.out).toMatch(/^fields\.team +core$/m);
    for (const named of ['nobody', '987654321', 'no/body'])
      expectRefused(
        await setup.upwave(`collectors show ${named}`),
        2,
        new RegExp(`no collector has .*${named}`),
      );
  });
});

describe('upwave collectors create', () => {
  it('creates a hosted one from options', async () => {
    const setup = await aService();
    const { code, out } = await setup.upwave(
      'collectors create --json --set name=123 --set category=prod/web --set fields.kubernetes.io/tier=1 --set description=',
    );
    expect(code).toBe(0);
    expect(await read(setup, JSON.parse(out).collector.id)).toMatchObject({
      name: '123',
      collectorType: 'Hosted',
      category: 'prod/web',
      description: null,
      fields: { 'kubernetes.io/tier': '1' },
    });
  });

  it('creates a copy from the output of `show --json`, with one field changed', async () => {
    const setup = await aService();
    const id = await create(setup, { name: 'one', category: 'prod', ephemeral: false });
    const file = setup.desk.write('one.json', (await setup.upwave('collectors show one --json')).out);
    const { out } = await setup.upwave(`collectors create --from ${file} --set name=two`);
    const copied = Number(/^created collector (\d+) two\n$/.exec(out)?.[1]);
    expect(copied).not.toBe(id);
    expect(await read(setup, copied)).toMatchObject({ name: 'two', category: 'prod' });
  });

  it('ends with 2 and the code when the service refuses', async () => {
    const setup = await aService();
    await create(setup, { name: 'one' });
    expectRefused(await setup.upwave('collectors create --set name=one'), 2, /DuplicateResourceName/);
    const long = `collectors create --set name=${'x'.repeat(129)}`;
    expectRefused(await setup.upwave(long), 2, /CollectorNameTooLong/);
  });
});

describe('odd values of the service', () => {
  const rows = [
    { id: 1, name: 'web', alive: 'yes', lastSeenAlive: {}, fields: 'none', category: 7, odd: [1] },
    { id: 'x', name: 'no id' },
    'no collector at all',
    { id: 2, name: null, osName: 'Linux' },
  ];
  const targets = [{ version: '19.2-1', latest: 'so so' }, { version: 3 }, 7];
  const sources = [{ id: 5, name: 'nginx', alive: 'yes', own: 1 }, { name: 'x' }];
  const script: Script = ({ path, query, method, text }, response) => {
    if (method === 'PUT') return sendJson(response, 200, JSON.parse(text));
    if (path.endsWith('/targets')) return sendJson(response, 200, { targets });
    if (path.endsWith('/sources')) return sendJson(response, 200, { sources });
    if (path.endsWith('/1')) return sendJson(response, 200, { collector: rows[0] }, { etag: '"a"' });
    return sendJson(response, 200, { collectors: rows.slice(Number(query.get('offset'))) });
  };
  const kept = {
    collectors: [
      { id: 1, name: 'web', odd: [1] },
      { id: 2, name: '', osName: 'Linux' },
    ],
  };

  it.each([
    ['collectors list', '2 entries', kept],
    ['collectors list --offline-days 30', '2 entries', kept],
    ['builds', '2 entries', { builds: [{ version: '19.2-1', latest: false }] }],
    ['sources list 1', '1 entry', { sources: [{ id: 5, name: 'nginx', own: 1 }] }],
  ])('cost `%s` only their own rows, which stderr reports (P13)', async (line, entries, shown) => {
    const { upwave } = await aScript(script);
    const { code, out, err } = await upwave(line, '--json');
    expect([code, err]).toEqual([
      0,
      `warning: the service listed ${entries} that cannot be read: left out\n`,
    ]);
    expect(JSON.parse(out)).toEqual(shown);
  });
});

describe('upwave collectors update', () => {
  it('sets the named fields, keeps the others, and shows the difference', async () => {
    const setup = await aService();
    const kept = { description: 'first', someVendorField: { deep: [1] } };
    const id = await create(setup, {
      ...kept,
      name: 'one',
      category: 'prod',
      fields: { team: 'core', tier: 'a' },
    });
    const { code, out } = await setup.upwave(
      'collectors update one --set category= --set fields.team=42 --set fields.tier= --set targetCpu=20',
    );
    expect(code).toBe(0);
    expect(out).toContain(`collector ${id} one changed\n`);
    for (const change of [
      'category: "prod" → null',
      'fields.team: "core" → "42"',
      'fields.tier: "a" → nothing',
    ])
      expect(out).toContain(`  ${change}\n`);
    const changed = { ...kept, category: null, fields: { team: '42' }, targetCpu: 20 };
    expect(await read(setup, id)).toMatchObject(changed);
  });

  it('shows what someone else changed meanwhile, tries once more, and ends with 3 at the second time', async () => {
    let version = 0;
    const { upwave } = await aScript((request, response) => {
      const collector = { id: 1, name: 'one', alive: true, category: `v${version}` };
      if (request.method === 'GET') return sendJson(response, 200, { collector }, { etag: `"${version}"` });
      version += 1;
      return sendJson(response, 412, { status: 412, code: 'service.etagid.mismatch', message: 'stale' });
    });
    const { code, err } = await upwave('collectors update 1 --set hostName=h');
    expect(err).toMatch(
      /^someone else changed it meanwhile; trying once more on top of:\n {2}category: "v0" → "v1"\nupwave: someone else changes it at the same time: .*service\.etagid\.mismatch/,
    );
    expect(code).toBe(3);
  });
});

describe('upwave collectors delete', () => {
  it('deletes a collector with --yes, and nothing without a terminal to ask at', async () => {
    const setup = await aService();
    const id = await create(setup, { name: 'one' });
    const status = async () => (await setup.send(`/v1/collectors/${id}`)).status;
    expectRefused(
      await setup.upwave('collectors delete one'),
      3,
      /there is no terminal to ask at: add --yes/,
    );
    expect(await status()).toBe(200);
    const done = await setup.upwave('collectors delete one --yes');
    expect(done).toMatchObject({ code: 0, out: `deleted collector ${id} one\n` });
    expect(await status()).toBe(404);
    expect((await setup.upwave(`collectors delete ${id} --yes`)).code).toBe(2);
  });

  it('starts the deletion of collectors that have been offline for long', async () => {
    const setup = await aService({ fleet: { size: 30, shares: { dead: 1, ephemeral: 0 } } });
    setup.clock.advance(400 * 86_400_000);
    const offline = await setup.send('/v1/collectors/offline?aliveBeforeDays=300');
    const { length } = offline.body.collectors;
    expect(length).toBeGreaterThan(0);
    const done = await setup.upwave('collectors delete-offline --days 300 --yes');
    expect(done.out).toMatch(new RegExp(`^deletion of ${length} collectors started; the service answers: `));
    const none = await setup.upwave('collectors delete-offline --days 9000 --yes');
    expect(none.out).toBe('no collector has been offline for 9,000 days\n');
    expect([done.code, none.code]).toEqual([0, 0]);
  });
});

describe('upwave sources', () => {
  const nginx = '--set sourceType=LocalFile --set pathExpression=/var/log/nginx/*.log';

  it('creates, lists, shows, changes and deletes them', async () => {
    const setup = await aService();
    const collectorId = await create(setup, { name: 'one' });
    const created = await setup.upwave(
      `sources create one --set name=nginx ${nginx} --set denylist=["*.gz"] --json`,
    );
    const [{ id }] = JSON.parse(created.out).sources;
    const source = async () => (await setup.send(`/v1/collectors/${collectorId}/sources/${id}`)).body.source;
    expect(await source()).toMatchObject({ name: 'nginx', denylist: ['*.gz'] });
    expect((await setup.upwave('sources list one')).out).toMatch(/nginx .*LocalFile/);
    expect((await setup.upwave('sources show one nginx')).out).toMatch(/^denylist +\["\*\.gz"\]$/m);
    await setup.upwave('sources update one nginx --set cutoffTimestamp=5');
    expect(await source()).toMatchObject({ cutoffTimestamp: 5, denylist: ['*.gz'] });
    expect((await setup.upwave('sources delete one nginx')).code).toBe(3);
    const deleted = await setup.upwave(`sources delete one ${id} --yes`);
    expect(deleted.out).toBe(`deleted source ${id} nginx of collector ${collectorId} one\n`);
    expect((await setup.upwave('sources list one')).out).toBe('no source\n');
  });

  it('exports the document that registers a collector, and creates from it', async () => {
    const setup = await aService();
    await create(setup, { name: 'one' });
    await create(setup, { name: 'two' });
    const exported = async (words: string) => JSON.parse((await setup.upwave(`sources export ${words}`)).out);
    for (const name of ['a', 'b']) await setup.upwave(`sources create one --set name=${name} ${nginx}`);
    const document = await exported('one');
    expect(document).toMatchObject({ 'api.version': 'v1', sources: [{ name: 'a' }, { name: 'b' }] });
    expect(document.sources.some((source: object) => 'id' in source || 'alive' in source)).toBe(false);

    const file = setup.desk.write('sources.json', document);
    const copied = await setup.upwave(`sources create two --from ${file}`);
    expect(copied.out).toMatch(/^created source \d+ a\ncreated source \d+ b\n$/);
    expect(await exported('two')).toEqual(document);
    expect(await exported('two b')).toMatchObject({ 'api.version': 'v1', source: { name: 'b' } });
    expectRefused(await setup.upwave(`sources create two --from ${file}`), 2, /DuplicateResourceName/);
  });
});

describe('upwave builds', () => {
  it('lists what the service offers, highest version first', async () => {
    const targets = [
      { version: '19.227-4' },
      { version: '19.525-63', latest: true },
      { version: '19.227-11' },
    ];
    const { upwave } = await aScript((_request, response) => sendJson(response, 200, { targets }));
    expect(JSON.parse((await upwave('builds --json')).out).builds).toEqual([
      { version: '19.525-63', latest: true },
      { version: '19.227-11', latest: false },
      { version: '19.227-4', latest: false },
    ]);
    expect((await upwave('builds')).out).toMatch(/19\.525-63 │ yes/);
  });
});
