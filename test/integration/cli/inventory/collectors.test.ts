import { describe, expect, it, onTestFinished } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { type Script, sendJson, startScriptedServer } from '../../../support/network/scripted-server.ts';
import { type CallResult, callUpwave } from '../../../support/night/upwave-call.ts';
import { aFolder, runUpwave } from '../../../support/night/upwave-process.ts';
import { aReferenceService, type ReferenceSetup } from '../../../support/reference-client.ts';

type Command = (...args: readonly string[]) => Promise<CallResult>;
type AtEnd = (work: () => Promise<void> | void) => void;

/**
 * `upwave …` with a config for this service: called for what it says, and as a process of its own, which each kind of
 * command has to end by itself, whatever it had opened.
 */
function aCommand(baseUrl: string, { accessKey = 'akey', atEnd = onTestFinished as AtEnd } = {}) {
  const folder = aFolder(atEnd);
  const service = { baseUrl, accessId: 'anid', accessKey, requestsPerSecond: 1_000 };
  const config = folder.write('upwave.yaml', { service, rollouts: [{ name: 'all' }] });
  const upwave: Command = (...args) => callUpwave(...args, '--config', config);
  const upwaveProcess: Command = (...args) =>
    runUpwave({ args, cwd: folder.path, env: { UPWAVE_RETRY_FOR: '0s' } });
  return { upwave, upwaveProcess, folder };
}

async function aService(scenario: ScenarioInput = {}, atEnd: AtEnd = onTestFinished) {
  const setup = await aReferenceService({ fleet: { size: 30 }, ...scenario });
  atEnd(setup.close);
  return { ...setup, ...aCommand(setup.service.baseUrl, { atEnd }) };
}

async function aScript(script: Script, atEnd: AtEnd = onTestFinished) {
  const server = await startScriptedServer(script);
  atEnd(server.close);
  return { server, ...aCommand(`${server.url}/api`, { atEnd }) };
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

/** One line for a person on stderr, and nothing of our insides. */
function expectOneLine({ err }: CallResult, says: RegExp): void {
  expect(err).toMatch(says);
  expect(err).toMatch(/^upwave: [^\n]*\n$/);
  expect(err).not.toMatch(/^\s+at /m);
}

describe('upwave collectors list', () => {
  it('shows every collector, or the part that is asked for', async () => {
    const setup = await aService();
    await create(setup, { name: 'web001.example.com', category: 'prod/web' });
    await create(setup, { name: 'web002.example.com' });
    const table = await setup.upwaveProcess('collectors', 'list', '--match', 'WEB0*');
    expect(table.code).toBe(0);
    expect(table.out).toMatch(/│ id .*│ name .*│ build .*│ category/);
    expect(table.out).toMatch(/web001\.example\.com.*prod\/web/);
    expect(table.out).toMatch(/\n2 collectors\n$/);

    const hosted = await setup.upwave('collectors', 'list', '--filter', 'hosted', '--json');
    const { collectors } = JSON.parse(hosted.out);
    expect(collectors.map(({ name }: { name: string }) => name)).toContain('web002.example.com');
    expect(new Set(collectors.map((c: { collectorType: string }) => c.collectorType))).toEqual(
      new Set(['Hosted']),
    );

    const all = JSON.parse((await setup.upwave('collectors', 'list', '--json')).out);
    expect(all.collectors).toHaveLength(32);
    const regex = await setup.upwave('collectors', 'list', '--match', '/^web00[13]/', '--json');
    expect(JSON.parse(regex.out).collectors).toHaveLength(1);
    expect((await setup.upwave('collectors', 'list', '--match', 'nothing-like-it')).out).toBe(
      'no collector\n',
    );
  });

  it('shows those that were away for long', async () => {
    const setup = await aService({ fleet: { size: 30, shares: { dead: 1 } } });
    setup.clock.advance(400 * 86_400_000);
    const { out } = await setup.upwave('collectors', 'list', '--offline-days', '300', '--json');
    const { collectors } = JSON.parse(out);
    expect(collectors.length).toBeGreaterThan(0);
    expect(collectors.every(({ alive }: { alive: boolean }) => !alive)).toBe(true);
    const none = await setup.upwave('collectors', 'list', '--offline-days', '5000', '--json');
    expect(JSON.parse(none.out)).toEqual({ collectors: [] });
  });

  it.each([
    { args: ['--filter', 'sleeping'], says: /Allowed choices are installed, hosted, dead, alive/ },
    { args: ['--offline-days', '0'], says: /at least 1 day/ },
    { args: ['--offline-days', '3', '--filter', 'dead'], says: /cannot be used with/ },
    { args: ['--match', '/(/'], says: /--match is no regular expression .* missing closing/ },
  ])('$args ends with 2', async ({ args, says }) => {
    const { upwave } = aCommand('http://127.0.0.1:9');
    const { code, err } = await upwave('collectors', 'list', ...args);
    expect(err).toMatch(says);
    expect(code).toBe(2);
  });

  it('lets no name reach the terminal with what it would obey', async () => {
    const name = 'red\u001b[31m\u009b\u202eevil\u2066';
    const { upwave } = await aScript((_request, response) =>
      sendJson(response, 200, { collectors: [{ id: 1, name, category: 'a\nb' }] }),
    );
    const table = await upwave('collectors', 'list');
    expect(table.out).toContain('red\\u001b[31m\\u009b\\u202eevil\\u2066');
    expect(table.out).toContain('a\\u000ab');
    const json = await upwave('collectors', 'list', '--json');
    // Line feeds are our own.
    for (const { out } of [table, json])
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u2066]/u);
    expect(JSON.parse(json.out).collectors[0]).toEqual({ id: 1, name, category: 'a\nb' });
  });
});

describe('upwave collectors show', () => {
  it('finds one by its id or by any name, also one that the service can not be asked for', async () => {
    const setup = await aService();
    const names = ['web 001.köln.example.com', 'Cloud/Dev/100% \\;', '4711'];
    for (const name of names) {
      const id = await create(setup, { name, fields: { team: 'core' } });
      const byName = await setup.upwave('collectors', 'show', name, '--json');
      expect(JSON.parse(byName.out).collector).toMatchObject({ id, name });
    }
    const id = await create(setup, { name: 'by-id', fields: { team: 'core' } });
    const byId = await setup.upwave('collectors', 'show', String(id));
    expect(byId.code).toBe(0);
    expect(byId.out).toMatch(/^name +by-id$/m);
    expect(byId.out).toMatch(/^fields\.team +core$/m);
  });

  it.each(['nobody', '987654321', 'no/body'])('%s ends with 2 when there is none', async (named) => {
    const { upwave } = await aService();
    const result = await upwave('collectors', 'show', named);
    expect(result.code).toBe(2);
    expectOneLine(result, new RegExp(`no collector has .*${named}`));
  });
});

describe('upwave collectors create', () => {
  it('creates a hosted one from options', async () => {
    const setup = await aService();
    const { code, out } = await setup.upwave(
      ...['collectors', 'create', '--json', '--set', 'name=123', '--set', 'category=prod/web'],
      ...['--set', 'fields.team=core', '--set', 'fields.kubernetes.io/tier=1', '--set', 'description='],
    );
    expect(code).toBe(0);
    const { collector } = JSON.parse(out);
    expect(await read(setup, collector.id)).toMatchObject({
      name: '123',
      collectorType: 'Hosted',
      category: 'prod/web',
      description: null,
      fields: { team: 'core', 'kubernetes.io/tier': '1' },
    });
  });

  it('creates a copy from what `show --json` printed, with a field set anew', async () => {
    const setup = await aService();
    const id = await create(setup, { name: 'one', category: 'prod', ephemeral: false });
    const file = setup.folder.write(
      'one.json',
      (await setup.upwave('collectors', 'show', 'one', '--json')).out,
    );
    const { code, out } = await setup.upwave('collectors', 'create', '--from', file, '--set', 'name=two');
    expect(code).toBe(0);
    const copied = Number(/^created collector (\d+) two\n$/.exec(out)?.[1]);
    expect(copied).not.toBe(id);
    expect(await read(setup, copied)).toMatchObject({ name: 'two', category: 'prod' });
  });

  it('ends with 2 and the code when the service refuses', async () => {
    const setup = await aService();
    await create(setup, { name: 'one' });
    const taken = await setup.upwave('collectors', 'create', '--set', 'name=one');
    expect(taken.code).toBe(2);
    expectOneLine(taken, /DuplicateResourceName/);
    const long = await setup.upwave('collectors', 'create', '--set', `name=${'x'.repeat(129)}`);
    expectOneLine(long, /CollectorNameTooLong/);
  });

  it.each([
    { args: [], says: /state the fields: --from FILE, or --set name=value/ },
    { args: ['--set', 'category=x'], says: /a collector needs a name/ },
    { args: ['--from', '/no/such/file'], says: /no such file/ },
    { args: ['--set', 'name=x', '--set', 'name.first=y'], says: /name has no first in it/ },
  ])('$args ends with 2', async ({ args, says }) => {
    const { upwave } = aCommand('http://127.0.0.1:9');
    const result = await upwave('collectors', 'create', ...args);
    expect(result.code).toBe(2);
    expectOneLine(result, says);
  });

  it.each(['name', '=x', 'a..b=1'])('--set %s ends with 2', async (text) => {
    const { upwave } = aCommand('http://127.0.0.1:9');
    const { code, err } = await upwave('collectors', 'create', '--set', text);
    expect(code).toBe(2);
    expect(err).toMatch(/write name=value/);
  });
});

describe('odd values of the service', () => {
  const rows = [
    { id: 1, name: 'web', alive: 'yes', lastSeenAlive: {}, fields: 'none', category: 7, odd: [1] },
    { id: 'x', name: 'no id' },
    'no collector at all',
    { id: 2, name: null, osName: 'Linux' },
  ];
  const script: Script = ({ path, query, method, text }, response) => {
    if (method === 'PUT') return sendJson(response, 200, JSON.parse(text));
    if (path.endsWith('/targets'))
      return sendJson(response, 200, {
        targets: [{ version: '19.2-1', latest: 'so so' }, { version: 3 }, 7],
      });
    if (path.endsWith('/sources'))
      return sendJson(response, 200, {
        sources: [{ id: 5, name: 'nginx', alive: 'yes', own: 1 }, { name: 'x' }],
      });
    if (path.endsWith('/1')) return sendJson(response, 200, { collector: rows[0] }, { etag: '"a"' });
    return sendJson(response, 200, { collectors: rows.slice(Number(query.get('offset'))) });
  };
  const warned = (rows: string) => `warning: the service listed ${rows} that cannot be read: left out\n`;

  it.each([
    ['collectors', ['collectors', 'list']],
    ['offline collectors', ['collectors', 'list', '--offline-days', '30']],
  ])('cost %s themselves alone, which is said on stderr (P13)', async (_what, args) => {
    const { upwave } = await aScript(script);
    const { code, out, err } = await upwave(...args, '--json');
    expect(err).toBe(warned('2 entries'));
    expect(JSON.parse(out)).toEqual({
      collectors: [
        { id: 1, name: 'web', odd: [1] },
        { id: 2, name: '', osName: 'Linux' },
      ],
    });
    expect(code).toBe(0);
    expect((await upwave(...args)).out).toMatch(/│ 1 .*│ web/);
  });

  it('cost sources and builds no more', async () => {
    const { upwave } = await aScript(script);
    const builds = await upwave('builds', '--json');
    expect(JSON.parse(builds.out)).toEqual({ builds: [{ version: '19.2-1', latest: false }] });
    expect(builds.err).toBe(warned('2 entries'));
    const sources = await upwave('sources', 'list', '1', '--json');
    expect(JSON.parse(sources.out)).toEqual({ sources: [{ id: 5, name: 'nginx', own: 1 }] });
    expect(sources.err).toBe(warned('1 entry'));
  });

  it('go back as they came when another field is changed', async () => {
    const { upwave, server } = await aScript(script);
    const { code } = await upwave('collectors', 'update', '1', '--set', 'description=x');
    expect(code).toBe(0);
    const put = server.requests.find(({ method }) => method === 'PUT');
    expect(JSON.parse(put?.text ?? '')).toEqual({ collector: { ...Object(rows[0]), description: 'x' } });
  });
});

/** The ETag is a new one so many times. */
const racing = (conflicts: number): Script => {
  let left = conflicts;
  let version = 0;
  const collector = () => ({ id: 1, name: 'one', alive: true, category: `v${version}` });
  return (request, response) => {
    if (request.method === 'GET') {
      sendJson(response, 200, { collector: collector() }, { etag: `"${version}"` });
    } else if (left > 0) {
      left -= 1;
      version += 1;
      sendJson(response, 412, { status: 412, code: 'service.etagid.mismatch', message: 'stale' });
    } else {
      sendJson(response, 200, { collector: { ...collector(), ...JSON.parse(request.text).collector } });
    }
  };
};

describe('upwave collectors update', () => {
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['collectors', 'update', '1', '--set', 'alive=false'],
      /alive can't be set: .*fields to set: name, desc/,
    ],
    [['collectors', 'update', '1', '--set', 'nosuch=1'], /a collector has no field "nosuch"; fields to set:/],
    [['collectors', 'update', '1', '--set', 'name=x', '--set', 'catgeory=x'], /did you mean "category"\?/],
    [['collectors', 'create', '--set', 'name=x', '--set', 'osName=Linux'], /osName can't be set/],
    [['sources', 'update', '1', '2', '--set', 'alive=true'], /alive can't be set/],
    [['sources', 'create', '1', '--set', 'nmae=x'], /is "nmae" a slip of "name"\?/],
  ];

  it('sets what is named, keeps the rest, and shows the difference', async () => {
    const setup = await aService();
    const id = await create(setup, {
      name: 'one',
      category: 'prod',
      description: 'first',
      fields: { team: 'core', tier: 'a' },
      someVendorField: { deep: [1] },
    });
    const { code, out } = await setup.upwave(
      ...['collectors', 'update', 'one', '--set', 'category=', '--set', 'fields.team=42'],
      ...['--set', 'fields.tier=', '--set', 'targetCpu=20'],
    );
    expect(code).toBe(0);
    expect(out).toContain(`collector ${id} one changed\n`);
    expect(out).toContain('  category: "prod" → null\n');
    expect(out).toContain('  fields.team: "core" → "42"\n');
    expect(out).toContain('  fields.tier: "a" → nothing\n');
    expect(await read(setup, id)).toMatchObject({
      category: null,
      description: 'first',
      fields: { team: '42' },
      targetCpu: 20,
      someVendorField: { deep: [1] },
    });
  });

  it('takes a whole document of before, and says when nothing changes', async () => {
    const setup = await aService();
    const installed = setup.service.world
      .collectors()
      .find(({ facts }) => facts.collectorType === 'Installable');
    const id = String(installed?.facts.id);
    const file = setup.folder.write('c.json', (await setup.upwave('collectors', 'show', id, '--json')).out);
    setup.clock.advance(3 * 3_600_000);
    const same = await setup.upwave('collectors', 'update', id, '--from', file);
    expect(same.out).toMatch(/: nothing to change\n$/);
    expect(same.code).toBe(0);
    const changed = await setup.upwave(
      ...['collectors', 'update', id, '--from', file, '--set', 'description=new', '--json'],
    );
    expect(JSON.parse(changed.out)).toMatchObject({ changed: true, collector: { description: 'new' } });
  });

  it('refuses to set what nobody can set, before anything is sent', async () => {
    const { upwave, server } = await aScript(racing(0));
    for (const [args, says] of refused) {
      const result = await upwave(...args);
      expect(result.code).toBe(2);
      expectOneLine(result, says);
    }
    expect(server.requests).toEqual([]);
  });

  it('refuses another value of a fixed field that a file states', async () => {
    const setup = await aService();
    const id = await create(setup, { name: 'one' });
    const file = setup.folder.write('one.json', { id: id + 1 });
    const result = await setup.upwave('collectors', 'update', String(id), '--from', file);
    expect(result.code).toBe(2);
    expectOneLine(result, /id can't be changed/);
  });

  describe('when someone else changes it meanwhile', () => {
    const update = ['collectors', 'update', '1', '--set', 'hostName=h'];

    it('shows what they changed, tries once more, and keeps it', async () => {
      const { upwave, server } = await aScript(racing(1));
      const { code, out, err } = await upwave(...update);
      expect(err).toBe(
        'someone else changed it meanwhile; trying once more on top of:\n  category: "v0" → "v1"\n',
      );
      expect(out).toBe('collector 1 one changed\n  hostName: nothing → "h"\n');
      expect(code).toBe(0);
      expect(server.requests.at(-1)?.headers['if-match']).toBe('"1"');
    });

    it('ends with 3 at the second time', async () => {
      const { upwave, server } = await aScript(racing(2));
      const { code, err } = await upwave(...update);
      expect(err).toMatch(/\nupwave: someone else changes it at the same time: .*service\.etagid\.mismatch/);
      expect(code).toBe(3);
      expect(server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(2);
    });
  });
});

describe('upwave collectors delete', () => {
  it('deletes one with --yes, and nothing where nobody can be asked', async () => {
    const setup = await aService();
    const id = await create(setup, { name: 'one' });
    const refused = await setup.upwave('collectors', 'delete', 'one');
    expect(refused.code).toBe(2);
    expectOneLine(refused, /nobody can be asked here: add --yes/);
    expect((await setup.send(`/v1/collectors/${id}`)).status).toBe(200);

    const done = await setup.upwave('collectors', 'delete', 'one', '--yes');
    expect(done.out).toBe(`deleted collector ${id} one\n`);
    expect(done.code).toBe(0);
    expect((await setup.send(`/v1/collectors/${id}`)).status).toBe(404);
    const again = await setup.upwave('collectors', 'delete', String(id), '--yes');
    expect(again.code).toBe(2);
  });

  it('says that a deletion may have been made when its answer was lost', async () => {
    const { upwave } = await aScript((request, response) => {
      if (request.method === 'GET') sendJson(response, 200, { collector: { id: 1, name: 'one' } });
      else response.destroy();
    });
    const result = await upwave('collectors', 'delete', '1', '--yes');
    expect(result.code).toBe(4);
    expectOneLine(result, /may have been made nevertheless/);
  });

  it('begins the deletion of those that were away for long', async () => {
    const setup = await aService({ fleet: { size: 30, shares: { dead: 1, ephemeral: 0 } } });
    setup.clock.advance(400 * 86_400_000);
    const offline = async () =>
      (await setup.send('/v1/collectors/offline?aliveBeforeDays=300')).body.collectors.length;
    const before = await offline();
    expect(before).toBeGreaterThan(0);
    const refused = await setup.upwave('collectors', 'delete-offline', '--days', '300');
    expect(refused.code).toBe(2);
    expect(await offline()).toBe(before);
    const done = await setup.upwave('collectors', 'delete-offline', '--days', '300', '--yes');
    expect(done.out).toMatch(new RegExp(`^deletion of ${before} collectors started; the service answers: `));
    expect(done.code).toBe(0);
    const none = await setup.upwave('collectors', 'delete-offline', '--days', '9000', '--yes');
    expect(none.out).toBe('no collector was away for 9000 days\n');
    expect((await setup.upwave('collectors', 'delete-offline', '--yes')).code).toBe(2);
  });
});

describe('upwave sources', () => {
  const nginx = ['--set', 'sourceType=LocalFile', '--set', 'pathExpression=/var/log/nginx/*.log'];

  it('creates, lists, shows, changes and deletes them', async () => {
    const setup = await aService();
    const collectorId = await create(setup, { name: 'one' });
    const created = await setup.upwave(
      ...[
        'sources',
        'create',
        'one',
        '--set',
        'name=nginx',
        ...nginx,
        '--set',
        'denylist=["*.gz"]',
        '--json',
      ],
    );
    expect(created.code).toBe(0);
    const [{ id }] = JSON.parse(created.out).sources;
    const url = `/v1/collectors/${collectorId}/sources/${id}`;
    expect((await setup.send(url)).body.source).toMatchObject({ name: 'nginx', denylist: ['*.gz'] });

    expect((await setup.upwave('sources', 'list', 'one')).out).toMatch(/nginx .*LocalFile/);
    expect((await setup.upwave('sources', 'show', 'one', 'nginx')).out).toMatch(/^denylist +\["\*\.gz"\]$/m);

    const changed = await setup.upwave(
      ...['sources', 'update', 'one', 'nginx', '--set', 'category=prod', '--set', 'cutoffTimestamp=5'],
    );
    expect(changed.out).toContain(`source ${id} nginx changed\n`);
    expect((await setup.send(url)).body.source).toMatchObject({
      category: 'prod',
      cutoffTimestamp: 5,
      denylist: ['*.gz'],
    });

    expect((await setup.upwave('sources', 'delete', 'one', 'nginx')).code).toBe(2);
    const deleted = await setup.upwave('sources', 'delete', 'one', String(id), '--yes');
    expect(deleted.out).toBe(`deleted source ${id} nginx of collector ${collectorId} one\n`);
    expect((await setup.upwave('sources', 'list', 'one')).out).toBe('no source\n');
  });

  it('exports the document that registers a collector, and creates from it', async () => {
    const setup = await aService();
    await create(setup, { name: 'one' });
    await create(setup, { name: 'two' });
    for (const name of ['a', 'b'])
      await setup.upwave('sources', 'create', 'one', '--set', `name=${name}`, ...nginx);
    const exported = await setup.upwave('sources', 'export', 'one');
    const document = JSON.parse(exported.out);
    expect(document['api.version']).toBe('v1');
    expect(document.sources.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
    expect(document.sources.some((source: object) => 'id' in source || 'alive' in source)).toBe(false);

    const cloud = { sourceType: 'Universal', schemaRef: { type: 'Some Vendor' }, config: { name: 'cloud' } };
    const cloudFile = setup.folder.write('cloud.json', JSON.stringify({ source: cloud }));
    expect((await setup.upwave('sources', 'create', 'one', '--from', cloudFile)).out).toMatch(
      /^created source \d+ cloud\n$/,
    );
    expect((await setup.upwave('sources', 'list', 'one')).out).toMatch(/ cloud +│ Universal /);
    const oneCloud = JSON.parse((await setup.upwave('sources', 'export', 'one', 'cloud')).out);
    expect(oneCloud).toEqual({ 'api.version': 'v1', source: cloud });
    const renamed = ['sources', 'update', 'one', 'cloud', '--set', 'config.name=renamed'];
    expect((await setup.upwave(...renamed)).out).toMatch(/^source \d+ renamed changed$/m);
    expect((await setup.upwave('sources', 'delete', 'one', 'renamed', '--yes')).out).toMatch(
      /^deleted source \d+ renamed of collector \d+ one$/m,
    );

    const file = setup.folder.write('sources.json', exported.out);
    const copied = await setup.upwave('sources', 'create', 'two', '--from', file);
    expect(copied.out).toMatch(/^created source \d+ a\ncreated source \d+ b\n$/);
    expect(JSON.parse((await setup.upwave('sources', 'export', 'two')).out)).toEqual(document);
    const one = JSON.parse((await setup.upwave('sources', 'export', 'two', 'b')).out);
    expect(one).toMatchObject({ 'api.version': 'v1', source: { name: 'b' } });

    const again = await setup.upwave('sources', 'create', 'two', '--from', file);
    expect(again.code).toBe(2);
    expectOneLine(again, /DuplicateResourceName/);
  });

  it('tells why the service refuses', async () => {
    const setup = await aService({ fleet: { size: 30, shares: { json: 1 } } });
    const json = setup.service.world
      .collectors()
      .find(({ facts }) => facts.collectorType === 'Installable' && facts.sourceSyncMode === 'Json');
    const id = String(json?.facts.id);
    const refused = await setup.upwave('sources', 'create', id, '--set', 'name=x', ...nginx);
    expect(refused.code).toBe(2);
    expectOneLine(refused, /CannotModifySources/);
    const unknown = await setup.upwave('sources', 'show', id, 'nothing');
    expectOneLine(unknown, /has no source nothing/);
    expectOneLine(await setup.upwave('sources', 'create', id, '--set', 'name=x'), /needs a name and a type/);
  });
});

describe('upwave builds', () => {
  it('lists what the service offers, highest version first', async () => {
    const { upwave } = await aScript((_request, response) =>
      sendJson(response, 200, {
        targets: [{ version: '19.227-4' }, { version: '19.525-63', latest: true }, { version: '19.227-11' }],
      }),
    );
    const { builds } = JSON.parse((await upwave('builds', '--json')).out);
    expect(builds).toEqual([
      { version: '19.525-63', latest: true },
      { version: '19.227-11', latest: false },
      { version: '19.227-4', latest: false },
    ]);
    const table = await upwave('builds');
    expect(table.out).toMatch(/19\.525-63 │ yes/);
    expect(table.code).toBe(0);
  });
});

describe.concurrent('when the service does not answer as it should', () => {
  it('ends with 4 when it can not be reached, and names the place', async ({ onTestFinished: atEnd }) => {
    const { upwaveProcess } = aCommand('http://127.0.0.1:9/api', { atEnd });
    const result = await upwaveProcess('builds');
    expect(result.code).toBe(4);
    expectOneLine(result, /cannot reach the service at http:\/\/127\.0\.0\.1:9\/api/);
  });

  it('does not say so when it answers something of no use', async ({ onTestFinished: atEnd }) => {
    const { upwaveProcess } = await aScript((_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html>Bad Gateway</html>');
    }, atEnd);
    const result = await upwaveProcess('builds');
    expect(result.code).toBe(4);
    expectOneLine(result, /^upwave: the service at http:\S+ gave no usable answer: .*502/);
  });

  it('ends with 2 for a refused access key, and does not show it', async ({ onTestFinished: atEnd }) => {
    const setup = await aService({}, atEnd);
    const { upwave } = aCommand(setup.service.baseUrl, { accessKey: 'wrong-key-of-mine', atEnd });
    const result = await upwave('collectors', 'list');
    expect(result.code).toBe(2);
    expectOneLine(result, /does not accept the access key \(401\)/);
    expect(result.all).not.toContain('wrong-key-of-mine');
  });
});
