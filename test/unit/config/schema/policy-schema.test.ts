import { describe, expect, it } from 'vitest';
import { configOf } from '../../../../src/config/load/load-config.ts';
import { parseYaml } from '../../../../src/config/source/yaml-source.ts';
import { problemCases, problemsIn, readConfig, withRollout } from '../../../support/config-fixtures.ts';

const policyOf = (yaml: string) => readConfig(withRollout(yaml)).rollouts[0];
const wavesOf = (yaml: string) => policyOf(`waves: ${yaml}`)?.waves ?? [];
const problems = (yaml: string) => problemsIn(withRollout(`waves: ${yaml}`));
const gatesOf = (gates: string) => wavesOf(`[{ name: a, gates: [${gates}] }]`)[0]?.gates ?? [];

describe('waves', () => {
  it.each([
    ['1 per stratum', { kind: 'perStratum', count: 1 }],
    ['" 12  per stratum "', { kind: 'perStratum', count: 12 }],
    ['7', { kind: 'count', count: 7 }],
    ['"7"', { kind: 'count', count: 7 }],
    ['2.5%', { kind: 'percent', percent: 2.5 }],
  ])('have the size %s', (size, read) => {
    expect(wavesOf(`[{ name: a, size: ${size} }, { name: b }]`)[0]?.size).toEqual(read);
  });

  it('may match, and take all that do unless they have a size', () => {
    const teams = '{ name: b, match: { fields: { team: [x] } }, size: 3 }';
    const waves = wavesOf(`[{ name: a, match: { osName: Linux } }, ${teams}, { name: c }]`);
    const whole = { kind: 'percent', percent: 100 };
    expect(waves).toMatchObject([
      { match: { osName: ['Linux'] }, size: whole },
      { match: { fields: { team: ['x'] } }, size: { kind: 'count', count: 3 } },
      { size: whole },
    ]);
    expect(waves.map((wave) => 'match' in wave)).toEqual([true, true, false]);
  });

  it('that match do not use up the percentages of the others', () => {
    const yaml = '[{ name: a, match: { osName: L }, size: 60% }, { name: b, size: 60% }, { name: c }]';
    expect(problems(yaml)).toEqual([]);
    expect(problems(yaml.replace('60% }, { name: c', '100% }, { name: c'))).toHaveLength(1);
  });

  it('may wait for approval', () => {
    const waves = wavesOf('[{ name: a, size: 1, approval: true }, { name: b }]');
    expect(waves.map(({ approval }) => approval)).toEqual([true, false]);
  });
});

const refused = problemCases(`
{} → 4:32: 0]: needs prometheus, webhook, dataFlow or search
{ dataFlow: { atLeast: 70 } } → 4:55: 0].dataFlow.atLeast: must be a percentage from 1% to 100%, such as 70%
{ dataFlow: { atLeast: "0%" } }
  → 4:55: 0].dataFlow.atLeast: "0%" is not a share; it must be a percentage from 1% to 100%, such as 70%
{ webhook: { url: http://h }, prometheus: { url: http://p, query: up, expect: "> 0" } }
  → 4:34: 0].webhook: prometheus and webhook are given; make two gates of them
{ webhook: { url: http://h }, name: A }
  → 4:68: 0].name: must be 1 to 63 small letters, digits or "-", and start with a letter or digit
{ webhook: { url: http://h }, name: a }, { webhook: { url: http://h }, name: a }
  → 4:109: 1].name: another gate of the wave is called "a" already; names must be unique
{ webhook: { url: http://h, query: up } }
  → 4:60: 0].webhook.query: unknown key "query", not known in this release; known here: url, every, urlFile, tokenFile, caFile
{ webhook: {} } → 4:34: 0].webhook: needs url or urlFile
{ webhook: { url: here } } → 4:50: 0].webhook.url: is not a URL; write one such as https://prometheus.example.com
{ webhook: { url: "ftp://h" } } → 4:50: 0].webhook.url: must start with https:// or http://
{ webhook: { url: "http://u:hunter2@h" } }
  → 4:50: 0].webhook.url: must not contain a user name or password; use tokenFile
{ webhook: { url: "http://h/?a=1&sig=hunter2" } }
  → 4:50: 0].webhook.url: must not contain a query ("?…"); write the URL into a file, and name that as urlFile
{ webhook: { url: "http://h/", urlFile: url } }
  → 4:72: 0].webhook.urlFile: url and urlFile are given; keep one
{ prometheus: { query: up, expect: "> 0" } } → 4:34: 0].prometheus: needs url or urlFile
{ webhook: { url: "http://h/#a" } } → 4:50: 0].webhook.url: must not contain a fragment ("#…")
{ webhook: { url: http://h, every: 1ms } } → 4:67: 0].webhook.every: must be at least 100ms
{ webhook: { url: http://h, tokenFile: "" } } → 4:71: 0].webhook.tokenFile: is empty; name a file
{ prometheus: { url: "http://p/?a=b", query: up, expect: "> 0" } }
  → 4:53: 0].prometheus.url: must not contain a query ("?…"); PromQL belongs in query
{ prometheus: { url: http://p, query: " ", expect: "> 0" } }
  → 4:70: 0].prometheus.query: is empty; write a PromQL query that gives one number
{ prometheus: { url: http://p, query: up } } → 4:34: 0].prometheus.expect: is missing; it must be text
{ prometheus: { url: http://p, query: up, expect: 1 } }
  → 4:82: 0].prometheus.expect: must be text such as ">= 0.99"
{ prometheus: { url: http://p, query: up, expect: "0.99" } }
  → 4:82: 0].prometheus.expect: "0.99" is not an expectation; write one of >= > <= < == != and a number, such as ">= 0.99"
{ prometheus: { url: http://p, query: up, expect: "> 1e999" } }
  → 4:82: 0].prometheus.expect: "> 1e999" is not an expectation; write one of >= > <= < == != and a number, such as ">= 0.99"
{ prometheus: { url: http://p, query: up, expect: "> 1", for: long } }
  → 4:94: 0].prometheus.for: "long" is not a duration; write one such as 250ms, 30s, 15m, 12h or 7d
`);

describe('gates', () => {
  it('ask Prometheus', () => {
    const asked = 'url: https://p.example.com/prom/, query: " up ", expect: ">= 0.99", for: 10m, every: 30s';
    const gate = `{ prometheus: { ${asked}, tokenFile: /run/token }, name: ingest, dryRun: true }`;
    expect(gatesOf(gate)).toEqual([
      {
        kind: 'prometheus',
        name: 'ingest',
        dryRun: true,
        url: 'https://p.example.com/prom/',
        query: 'up',
        expect: { operator: '>=', value: 0.99 },
        forMs: 600_000,
        everyMs: 30_000,
        tokenFile: '/run/token',
      },
    ]);
  });

  it('ask a webhook each minute, or Prometheus for one answer, by default', () => {
    const usual = { dryRun: false, everyMs: 60_000 };
    const url = 'http://127.0.0.1:8080/gate/a';
    expect(gatesOf(`{ webhook: { url: "${url}" } }`)).toEqual([
      { kind: 'webhook', name: 'webhook', url, ...usual },
    ]);
    expect(gatesOf('{ prometheus: { url: http://p, query: up, expect: "> 0" } }')).toMatchObject([
      { name: 'prometheus', forMs: 0, ...usual },
    ]);
  });

  it.each([
    ['>= 0.99', '>=', 0.99],
    ['>5', '>', 5],
    ['<= -1', '<=', -1],
    [' < 1e-3 ', '<', 0.001],
    ['== 0', '==', 0],
    ['= .5', '==', 0.5],
    ['!=  2', '!=', 2],
  ])('expect %j', (text, operator, value) => {
    const [gate] = gatesOf(`{ prometheus: { url: http://p, query: up, expect: "${text}" } }`);
    expect(gate).toMatchObject({ expect: { operator, value } });
  });

  it('measure the data flow as asked, or as a wave that requires it has by default', () => {
    const asked = { kind: 'dataFlow', name: 'dataFlow', dryRun: false, everyMs: 60_000 };
    const flows = (wave: string) =>
      wavesOf(`[{ name: a, size: 1, ${wave} }, { name: b }]`)[0]?.gates.map((gate) => ({ ...gate }));
    const given = '{ dataFlow: { window: 20m, atLeast: 50%, comparedTo: 7d } }';
    const rule = { ...asked, windowMs: 20 * 60_000, atLeast: 0.5, comparedToMs: 7 * 86_400_000 };
    expect(flows(`gates: [${given}], dataFlow: required`)).toEqual([rule]);
    expect(flows('dataFlow: required')).toEqual([
      { ...asked, windowMs: 10 * 60_000, atLeast: 0.7, comparedToMs: 86_400_000 },
    ]);
    expect(gatesOf('{ search: { query: "* | count", expect: "> 0" } }')).toMatchObject([
      { kind: 'search', name: 'search', query: '* | count', fromMs: 10 * 60_000 },
    ]);
  });

  it.each([
    ['size: 1, soak: 10m, dataFlow: required', true],
    ['size: 1, soak: 11m, dataFlow: required', false],
    ['size: 1, dataFlow: required', false],
    ['size: 1, gates: [{ dataFlow: { window: 30m } }]', true],
  ])('measure the data flow only after a soak that is long enough: %s', (wave, isRefused) => {
    const found = problems(`[{ name: a, ${wave} }, { name: b }]`);
    expect(found.map((line) => /must be at least (\S+):/.exec(line)?.[1] !== undefined)).toEqual(
      isRefused ? [true] : [],
    );
  });

  it('have names of their own, numbered where none is given', () => {
    const namesOf = (...gates: readonly string[]) => gatesOf(gates.join()).map(({ name }) => name);
    const webhook = '{ webhook: { url: http://h } }';
    const asked = '{ prometheus: { url: http://p, query: up, expect: "> 0" } }';
    const named = (name: string) => `{ webhook: { url: http://h }, name: ${name} }`;
    const names = namesOf(webhook, asked, webhook, named('webhook-2'), webhook, asked);
    expect(names.join()).toBe('webhook,prometheus,webhook-3,webhook-2,webhook-4,prometheus-2');
    expect(namesOf(webhook, named('webhook'))).toEqual(['webhook-2', 'webhook']);
  });

  it('may have their URL and token in files beside the config file, which the policy names and does not hold (P12)', () => {
    const asked = '{ prometheus: { urlFile: /run/url, caFile: own.pem, query: up, expect: "> 0" } }';
    const webhook = '{ webhook: { urlFile: secrets/url, tokenFile: secrets/token } }';
    const text = withRollout(`waves: [{ name: a, gates: [${webhook}, ${asked}] }]`);
    const gatesBeside = (path: string) => configOf(parseYaml(text, path), {}).rollouts[0]?.waves[0]?.gates;
    const gates = gatesBeside('/etc/upwave/config.yaml');
    expect(gates).toMatchObject([
      { urlFile: '/etc/upwave/secrets/url', tokenFile: '/etc/upwave/secrets/token' },
      { urlFile: '/run/url', caFile: '/etc/upwave/own.pem' },
    ]);
    for (const gate of gates ?? []) expect(gate).not.toHaveProperty('url');
    expect(gatesBeside('config.yaml')?.[0]).toMatchObject({ tokenFile: `${process.cwd()}/secrets/token` });
  });

  it.each(refused)('refuse %s', (gates, problem) => {
    const found = problems(`[{ name: a, gates: [${gates}] }]`);
    expect(found.map((line) => line.replace('rollouts[0].waves[0].gates[', ''))).toEqual([
      `config.yaml:${problem}`,
    ]);
  });
});

describe('a policy', () => {
  it.each([
    ['select: { share: 0% }', '"0%" is not a share; write a percentage above 0, such as "30%"'],
    ['select: { share: 101% }', '"101%" is not a share; write a percentage above 0, such as "30%"'],
    ['select: { share: 30 }', 'must be a percentage such as "30%"'],
    ['pace: { perHour: 0 }', 'perHour: must be at least 1'],
    ['pace: { perHour: 10, from: 20 }', 'from: must be at most perHour; it is 20, perHour 10'],
    [
      'waves: [{ name: a, windows: [{ from: 01:00, to: 01:02 }] }]',
      'waves[0].windows[0]: is open for 2m, shorter than upgrade.expect, 5m: no upgrade would ever start',
    ],
  ])('is refused with %s', (yaml, problem) => {
    expect(problemsIn(withRollout(yaml)).join('\n')).toContain(problem);
  });

  it('keeps its caps in the order of the file', () => {
    const caps = policyOf(
      'maxInFlightPer: { fields.cluster: 1, category: 2, fields.a.b: 10000 }',
    )?.maxInFlightPer;
    expect(caps?.map(({ key, cap }) => `${key} ${cap}`)).toEqual([
      'fields.cluster 1',
      'category 2',
      'fields.a.b 10000',
    ]);
  });

  it.each([
    ...['osName', 'osArch', 'collectorVersion', 'category', 'hostName', 'timeZone'],
    ...['sourceSyncMode', 'ephemeral', 'fields.team', 'fields. a b'],
  ])('may have strata and caps by %s', (key) => {
    const maxInFlightPer = [{ key, cap: 3 }];
    const policy = policyOf(`spreadBy: ["${key}"]\nmaxInFlightPer: { "${key}": 3 }`);
    expect(policy).toMatchObject({ spreadBy: [key], maxInFlightPer });
  });

  it.each([
    ['spreadBy: []\nisolate: off', { spreadBy: [], isolate: 'off' }],
    ['spreadBy: []', { isolate: 'strata' }],
    ['isolate: attributes', { isolate: 'attributes' }],
    ['approval: true\nonBreach: rollback', { approval: true, onBreach: 'rollback' }],
    [
      'target: { minimumAge: 3d, supersede: true }',
      { target: { version: 'latest', minimumAgeMs: 259_200_000, supersede: true } },
    ],
    ['select: { share: 12.5% }', { select: { share: 12.5 } }],
    ['pace: { perHour: 200 }', { pace: { perHour: 200, from: 200, factor: 1, after: 1 } }],
    [
      'timeZone: Asia/Tokyo\nwaves: [{ name: a, pace: { perHour: 9, from: 3 }, windows: [{ from: 01:00, to: 02:00 }], notBefore: 2026-12-01 }]',
      {
        waves: [
          {
            pace: { perHour: 9, from: 3 },
            windows: [{ timeZone: 'Asia/Tokyo', fromMinute: 60 }],
            notBefore: '2026-12-01T00:00',
          },
        ],
      },
    ],
    // Of a pinned build, what is so anyway.
    ['target: { version: 19.455-2, minimumAge: 0s, supersede: false }', { target: { version: '19.455-2' } }],
  ])('may say %j', (yaml, read) => {
    expect(policyOf(yaml)).toMatchObject(read);
  });
});
