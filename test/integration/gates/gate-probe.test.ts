import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GateProbeParts, makeGateProbe } from '../../../src/gates/make-gate-probe.ts';
import type { GateQuestion } from '../../../src/orchestrator/ports/gate-probe.ts';
import type { GateAnswer } from '../../../src/rollout/decision/assess-gate.ts';
import type { Expectation } from '../../../src/rollout/model/expectation.ts';
import type { HttpGateRule } from '../../../src/rollout/model/policy.ts';
import { aFolder } from '../../support/a-folder.ts';
import { ending } from '../../support/ending.ts';
import { listenHere } from '../../support/network/listen-here.ts';
import {
  hasOpenssl,
  makeCertificates,
  type TestCertificates,
} from '../../support/network/make-certificates.ts';
import {
  type Script,
  type SeenRequest,
  sendCutOff,
  sendJson,
  sendText,
  startScriptedServer,
} from '../../support/network/scripted-server.ts';
import { startTlsServer } from '../../support/network/tls-server.ts';

const summary: GateQuestion['summary'] = {
  rollout: 'production-20260302-1',
  policy: 'production',
  targetBuild: '19.536-4',
  wave: 'canary',
  size: 12,
  succeeded: 11,
  failed: 1,
  lost: 0,
  deferred: 0,
  failures: 1,
  failuresAllowed: 1,
};

const serve = async (script: Script) => ending(await startScriptedServer(script));

interface Asked extends Partial<GateProbeParts> {
  readonly tokenFile?: string;
  readonly signal?: AbortSignal;
  readonly query?: string;
  readonly expect?: Expectation;
}

function askPrometheus(url: string, asked: Asked = {}): Promise<GateAnswer> {
  const { query = 'up', expect: expectation = { operator: '>=', value: 0.99 }, ...more } = asked;
  return ask({ kind: 'prometheus', url, query, expect: expectation, forMs: 0 }, more);
}

function askWebhook(url: string, asked: Asked = {}): Promise<GateAnswer> {
  return ask({ kind: 'webhook', url }, asked);
}

type Gate = HttpGateRule;
/** What one gate has for itself. */
type OwnFields<G> = G extends Gate ? Omit<G, 'name' | 'dryRun' | 'everyMs'> : never;

const noSearch = { run: async () => ({ kind: 'forbidden' }) as const };

function ask(of: OwnFields<Gate>, asked: Asked = {}): Promise<GateAnswer> {
  const { tokenFile, signal, query: _query, expect: _expectation, ...parts } = asked;
  const shared = { name: 'gate', dryRun: false, everyMs: 60_000 };
  const gate: Gate = { ...shared, ...of, ...(tokenFile === undefined ? {} : { tokenFile }) };
  return makeGateProbe({ timeoutMs: 20_000, clock: { now: Date.now }, search: noSearch, ...parts }).ask(
    { gate, summary },
    signal,
  );
}

/** An answer that both kinds accept. */
const well: Script = (_request, response) => sendJson(response, 200, scalarOf('1'));

/** Both kinds, for what they have in common. */
const askers = [
  ['prometheus', askPrometheus],
  ['webhook', askWebhook],
] as const;

const success = (resultType: string, result: unknown) => ({
  status: 'success',
  data: { resultType, result },
});
const vectorOf = (...values: string[]) =>
  success(
    'vector',
    values.map((value, index) => ({ metric: { instance: `${index}` }, value: [1_772_485_200.781, value] })),
  );
const scalarOf = (value: string) => success('scalar', [1_772_485_200.781, value]);
const errorOf = (detail: string): GateAnswer => ({ kind: 'error', detail });

async function aTokenFile(text: string): Promise<string> {
  const path = join(aFolder(), 'token');
  await writeFile(path, text);
  return path;
}

/** Refuses with these words, in the form that each kind of gate expects. */
const saying =
  (words: (request: SeenRequest) => string): Script =>
  (request, response) =>
    request.method === 'GET'
      ? sendJson(response, 400, { status: 'error', error: words(request) })
      : sendText(response, 409, words(request));

describe('a prometheus gate, asked', () => {
  it('sends its query as an instant query, without credentials when it has none', async () => {
    const server = await serve(well);
    const query = 'sum(rate(errors{job="a&b"}[5m])) / 100 + 1';
    await askPrometheus(server.url, { query });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/api/v1/query', text: '' });
    expect(request?.query.get('query')).toBe(query);
    expect(request?.headers.authorization).toBeUndefined();
  });

  it('finds the path of the query behind any base URL', async () => {
    const server = await serve(well);
    for (const [path, requested] of [
      ['/', '/api/v1/query?query=up'],
      ['/prometheus//', '/prometheus/api/v1/query?query=up'],
      ['/api/v1/query', '/api/v1/query?query=up'],
      ['/tenant/api/v1/query/', '/tenant/api/v1/query?query=up'],
      ['/thanos?dedup=true&query=old', '/thanos/api/v1/query?dedup=true&query=up'],
    ] as const) {
      expect(await askPrometheus(`${server.url}${path}`)).toMatchObject({ kind: 'value', value: 1 });
      expect(server.requests.at(-1)?.url).toBe(requested);
    }
  });

  it('reads a scalar and a vector of one, and shows the expectation', async () => {
    const server = await serve(() => {});
    for (const [body, value, shown] of [
      [scalarOf('0.998'), 0.998, '0.998'],
      [vectorOf('0.93'), 0.93, '0.93'],
      [vectorOf('-1.5e-05'), -0.000015, '-0.000015'],
      [vectorOf('12'), 12, '12'],
      [{ ...scalarOf('1'), warnings: ['partial'] }, 1, '1'],
    ] as const) {
      server.follow((_request, response) => sendJson(response, 200, body));
      const expectation = { operator: '<', value: 5 } as const;
      const answer = await askPrometheus(server.url, { expect: expectation });
      expect(answer).toEqual({ kind: 'value', value, detail: `${shown} (< 5)` });
    }
  });

  it('accepts only one number as an answer, and reports what else it got (P14)', async () => {
    const server = await serve(() => {});
    for (const [body, detail] of [
      [vectorOf(), 'no data'],
      [vectorOf('1', '1'), '2 series, but a gate needs one: aggregate it'],
      [vectorOf('NaN'), 'NaN, which is not a number'],
      [scalarOf('+Inf'), '+Inf, which is not a number'],
      [scalarOf('1e999'), '1e999, which is not a number'],
      [scalarOf(''), 'nothing, which is not a number'],
      [scalarOf('many'), 'many, which is not a number'],
      [scalarOf('0x10'), '0x10, which is not a number'],
      [success('matrix', []), 'a matrix, but a gate needs one number'],
      [success('string', [1, 'a']), 'a string, but a gate needs one number'],
      [
        success('vector', [{ metric: {}, histogram: [1, { count: '1' }] }]),
        'a histogram, but a gate needs one number',
      ],
    ] as const) {
      server.follow((_request, response) => sendJson(response, 200, body));
      expect(await askPrometheus(server.url)).toEqual(errorOf(`the query returns ${detail}`));
    }
  });

  it('accepts neither JSON of another shape nor text that is not JSON', async () => {
    const server = await serve(() => {});
    for (const body of [
      null,
      0.998,
      { status: 'success', data: null },
      { status: 'partial', data: scalarOf('1').data },
      success('quantum', []),
      success('scalar', ['1']),
      success('scalar', [1, 2]),
      success('vector', [{ value: '1' }]),
      success('vector', { value: [1, '1'] }),
    ]) {
      server.follow((_request, response) => sendJson(response, 200, body));
      expect(await askPrometheus(server.url), JSON.stringify(body)).toEqual(
        errorOf('the response is not a Prometheus query result'),
      );
    }
    for (const text of ['<html>Sign in</html>', '{"status":"success","data":', '', 'up 1\n']) {
      server.follow((_request, response) => sendText(response, 200, text));
      expect(await askPrometheus(server.url)).toEqual(errorOf('the response is not JSON'));
    }
  });

  it('shows the error message of Prometheus, cut to a bounded length', async () => {
    const server = await serve(() => {});
    for (const [status, reported, detail] of [
      [400, { errorType: 'bad_data', error: '1:5: no\nsuch "thing"' }, 'bad_data: 1:5: no such "thing"'],
      [503, { errorType: 'timeout', error: 'query timed out' }, 'timeout: query timed out'],
      [200, { error: 'all wrong' }, 'all wrong'],
      [422, {}, 'an error without a reason'],
      [400, { errorType: 'bad_data', error: 'x'.repeat(5_000) }, `bad_data: ${'x'.repeat(190)}`],
    ] as const) {
      server.follow((_request, response) => sendJson(response, status, { status: 'error', ...reported }));
      expect(await askPrometheus(server.url)).toEqual(errorOf(detail));
    }
  });

  it('ignores a value that comes with a refusal', async () => {
    const server = await serve((_request, response) => sendJson(response, 500, scalarOf('1')));
    expect(await askPrometheus(server.url)).toEqual(errorOf('answered 500'));
  });
});

describe('a webhook gate, asked', () => {
  it('sends the summary as JSON to exactly its URL', async () => {
    const server = await serve((_request, response) => sendText(response, 204, ''));
    await askWebhook(`${server.url}/gates/canary/?team=a%20b`);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/gates/canary/?team=a%20b' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.headers.authorization).toBeUndefined();
    expect(JSON.parse(request?.text ?? '')).toEqual(summary);
  });

  it('passes at any 2xx', async () => {
    let status = 0;
    const server = await serve((_request, response) => sendText(response, status, ''));
    for (status of [200, 201, 202, 204, 299])
      expect(await askWebhook(server.url)).toEqual({
        kind: 'verdict',
        verdict: 'pass',
        detail: `answered ${status}`,
      });
  });

  it('holds at a 409, with its body as the reason, in one line that is cut between characters', async () => {
    const server = await serve(() => {});
    for (const [text, detail] of [
      ['change freeze', 'change freeze'],
      ['', ''],
      ['  change\r\n\tfreeze  ', 'change freeze'],
      ['red \u001b[31malert\u0007\u202e\u0000', 'red [31malert'],
      [`x${'ä'.repeat(500)}`, `x${'ä'.repeat(199)}`],
      [`x${'😀'.repeat(500)}`, `x${'😀'.repeat(99)}`],
    ] as const) {
      server.follow((_request, response) => sendText(response, 409, text));
      expect(await askWebhook(server.url)).toEqual({ kind: 'verdict', verdict: 'hold', detail });
    }
  });
});

describe.each(askers)('the probe, for a %s gate', (_kind, ask) => {
  it('has no answer when the server refuses the request', async () => {
    let status = 0;
    const server = await serve((_request, response) => sendText(response, status, '<html>no</html>'));
    for (status of [400, 401, 403, 404, 408, 410, 429, 500, 502, 503])
      expect(await ask(server.url)).toEqual(errorOf(`answered ${status}`));
  });

  it('follows no redirect, and sends its token nowhere else', async () => {
    let status = 0;
    const other = await serve(well);
    const server = await serve((_request, response) => {
      const location = `${other.url}/api/v1/query`;
      sendJson(response, status, { status: 'error', error: 'moved' }, { location });
    });
    const tokenFile = await aTokenFile('geheim-123456');
    for (status of [300, 301, 302, 303, 304, 307, 308])
      expect(await ask(server.url, { tokenFile })).toEqual(
        errorOf(`answered ${status}: redirects are not followed, set the final URL`),
      );
    expect(other.requests).toHaveLength(0);
  });

  it('has no answer when the server has no TLS', async () => {
    const server = await serve(well);
    const { kind, detail } = await ask(server.url.replace('http:', 'https:'));
    expect(kind).toBe('error');
    expect(detail).toMatch(/^no connection \(\w+\)$/);
  });

  it('has no answer when no server listens, or the host does not exist', async () => {
    expect(await ask('http://127.0.0.1:1')).toEqual(errorOf('connection refused'));
    const { kind, detail } = await ask('http://gate.invalid');
    expect(kind).toBe('error');
    expect(detail).toMatch(/^(unknown host|the host name could not be resolved)$/);
  });

  const broke = 'the connection broke before the response was complete';
  const tooLarge: Script = (request, response) => {
    const text = JSON.stringify(scalarOf('1'));
    const blanks = ' '.repeat(1_000_001 - text.length);
    sendText(response, request.method === 'GET' ? 200 : 409, `${text}${blanks}`);
  };

  it.each<[string, string, Script, Asked]>([
    ['the connection breaks', broke, (_request, response) => void response.destroy(), {}],
    ['the answer breaks off', broke, (_request, response) => sendCutOff(response, 200), {}],
    ['the body is just over 1 MB', 'the response is larger than 1 MB', tooLarge, {}],
    ['none comes in time', 'no complete response within 1s', () => {}, { timeoutMs: 1_000 }],
  ])('has no answer when %s', async (_when, words, script, asked) => {
    const server = await serve(script);
    expect(await ask(server.url, asked)).toEqual(errorOf(words));
  });

  it('has no answer when the server does not speak HTTP', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n');
    });
    const { port } = ending(await listenHere(server));
    expect(await ask(`http://127.0.0.1:${port}`)).toEqual(errorOf('the response is not HTTP'));
  });

  it('keeps no connection open', async () => {
    let isClosed: Promise<void> | undefined;
    const server = await serve((_request, response) => {
      isClosed = new Promise((resolve) => response.socket?.once('close', () => resolve()));
      sendJson(response, 200, scalarOf('1'), { 'keep-alive': 'timeout=600' });
    });
    expect((await ask(server.url)).kind).not.toBe('error');
    await isClosed;
  });

  it('is not blocked by a file that does not open', async () => {
    const server = await serve(well);
    const answer = await ask(server.url, {
      timeoutMs: 100,
      tokenFile: '/run/secrets/token',
      readFile: () => new Promise(() => {}),
    });
    expect(answer).toEqual(errorOf('no complete response within 100ms'));
    expect(server.requests).toEqual([]);
  });

  it('ends at once when its signal is aborted, and is not sent later', async () => {
    const giveUp = new AbortController();
    const server = await serve(() => giveUp.abort());
    for (let asked = 1; asked <= 2; asked += 1)
      expect(await ask(server.url, { signal: giveUp.signal })).toEqual(errorOf('the request was cancelled'));
    expect(server.requests).toHaveLength(1);
  });

  it('sends the present token of its file each time, without the blanks around it', async () => {
    const server = await serve(well);
    const tokenFile = await aTokenFile('  first-token\n');
    await ask(server.url, { tokenFile });
    await writeFile(tokenFile, 'second-token');
    await ask(server.url, { tokenFile });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first-token',
      'Bearer second-token',
    ]);
  });

  it('sends nothing where the token file is missing, or holds no token, or one too long for a header', async () => {
    const server = await serve(well);
    const gone = `${await aTokenFile('x')}.gone`;
    expect(await ask(server.url, { tokenFile: gone })).toEqual(
      errorOf(`the token file ${gone} does not exist`),
    );
    const askWith = (text: string) =>
      ask(server.url, { tokenFile: '/run/token', readFile: async () => text });
    for (const [text, words] of [
      [' \n ', 'is empty'],
      ['geheim\nx-injected: 1', 'does not contain a token'],
      ['geheim geheim', 'does not contain a token'],
      ['geheimä', 'does not contain a token'],
      ['g'.repeat(7_001), 'does not contain a token'],
    ] as const)
      expect(await askWith(text)).toEqual(errorOf(`the token file /run/token ${words}`));
    expect(server.requests).toEqual([]);
    expect((await askWith('g'.repeat(7_000))).kind).not.toBe('error');
  });

  it('shows no token that the server repeats, in any form (P12)', async () => {
    const token = 'ge+heim/12"34=';
    const forms = [
      token,
      encodeURIComponent(token),
      JSON.stringify(token).slice(1, -1),
      Buffer.from(token).toString('base64'),
    ];
    const words = `you said ${forms.join(' and ')} and ge\u200b+heim/12"34=`;
    const server = await serve(saying(() => words));
    const answer = await ask(server.url, { tokenFile: '/run/token', readFile: async () => token });
    expect(answer.detail).toBe(`you said ${forms.map(() => '***').join(' and ')} and ***`);
  });

  it('leaves no part of a token at the end of a cut text (P12)', async () => {
    const token = 'geheimnis'.repeat(10);
    const server = await serve(saying(() => `${'x'.repeat(150)}${token}`));
    const answer = await ask(server.url, { tokenFile: '/run/token', readFile: async () => token });
    expect(answer.detail).toBe(`${'x'.repeat(150)}***`);
  });

  it('sends nothing to an unusable URL, and does not repeat it', async () => {
    for (const url of ['', 'prometheus:9090', 'file:///etc/passwd', 'http://'])
      expect(await ask(url)).toEqual(errorOf('the URL is not an http or https URL'));
    for (const url of ['http://user:geheim@127.0.0.1:1/', 'http://user@127.0.0.1:1/'])
      expect(await ask(url)).toEqual(errorOf('the URL contains credentials: use a token file'));
  });

  it('reports an unexpected error by its class alone', async () => {
    const server = await serve(well);
    const answer = await ask(server.url, {
      tokenFile: '/run/token',
      readFile: () => {
        throw new TypeError('geheim');
      },
    });
    expect(answer).toEqual(errorOf('the request could not be sent (TypeError)'));
  });
});

describe('the probe, for a gate whose URL is in a file', () => {
  it('uses the present URL of a file, and shows no part of it that the server repeats (P12)', async () => {
    const server = await serve(
      saying(({ method, url }) => `${method} at ${url}, is it theSignature+1 or theSignature%2B1?`),
    );
    const urlFile = await aTokenFile(`${server.url}/hooks/thePathToken?sig=theSignature%2B1\n`);
    const webhook = await ask({ kind: 'webhook', urlFile });
    const expectation = { operator: '>=', value: 1 } as const;
    const prometheus = await ask({ kind: 'prometheus', urlFile, query: 'up', expect: expectation, forMs: 0 });
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/hooks/thePathToken?sig=theSignature%2B1',
      '/hooks/thePathToken/api/v1/query?sig=theSignature%2B1&query=up',
    ]);
    for (const { detail } of [webhook, prometheus]) {
      expect(detail).toContain('is it *** or ***?');
      expect(detail).not.toMatch(/thePathToken|theSignature/);
    }
    await writeFile(urlFile, 'no url');
    expect(await ask({ kind: 'webhook', urlFile })).toEqual(
      errorOf(`the URL file ${urlFile} does not contain a URL`),
    );
    const gone = `${urlFile}.gone`;
    expect(await ask({ kind: 'webhook', urlFile: gone })).toEqual(
      errorOf(`the URL file ${gone} does not exist`),
    );
  });
});

describe.skipIf(!hasOpenssl)(
  'a gate with a certificate of a private authority (skipped without openssl)',
  () => {
    async function askOver(server: TestCertificates, pem: string | undefined, read?: () => Promise<string>) {
      const https = ending(await startTlsServer(server, { status: 204 }));
      const gate = {
        kind: 'webhook',
        url: `${https.url}/`,
        ...(pem === undefined ? {} : { caFile: '/own.pem' }),
      } as const;
      const answer = await ask(gate, { readFile: read ?? (async () => pem ?? '') });
      return { answer, asked: https.asked() };
    }

    it('is trusted when its caFile names the authority', async () => {
      const made = makeCertificates();
      expect(await askOver(made, made.ca)).toMatchObject({
        answer: { kind: 'verdict', verdict: 'pass' },
        asked: 1,
      });
    });

    it.each([
      ['without one', () => undefined],
      ['with another one', () => makeCertificates().ca],
    ])('is no answer %s, naming caFile, and nothing is sent (P14)', async (_how, pem) => {
      expect(await askOver(makeCertificates(), pem())).toMatchObject({
        answer: { kind: 'error', detail: expect.stringContaining("set the gate's caFile") },
        asked: 0,
      });
    });

    it.each([
      ['holds no certificates', async () => 'hello', 'contains no certificates (PEM)'],
      [
        'was cut',
        async () => makeCertificates().ca.replace(/^(.{200}).*(-----END)/s, '$1\n$2'),
        'contains a broken certificate; copy it again',
      ],
      [
        'is far too long',
        async () => makeCertificates().ca.repeat(2_000),
        'is larger than 1048576 characters',
      ],
      [
        'is not there',
        () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOENT' })),
        'does not exist',
      ],
    ])('whose caFile %s has no answer, with the reason', async (_what, read, words) => {
      const { answer, asked } = await askOver(makeCertificates(), 'any', read);
      expect(answer).toEqual({ kind: 'error', detail: `the certificate file /own.pem ${words}` });
      expect(asked).toBe(0);
    });
  },
);
