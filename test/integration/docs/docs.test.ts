import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../../src/admin-api/admin-api.ts';
import { guideGroups } from '../../../src/docs/guide-list.ts';
import { ending } from '../../support/ending.ts';
import { makeFakeOperations } from '../../support/fake-operations.ts';
import { askRaw as ask } from '../../support/network/raw-http.ts';
import { startFakeAdminApi } from '../../support/start-fake-admin-api.ts';

const names = guideGroups.flatMap(({ guides }) => guides.map(({ name }) => name));
const paths = ['/docs', ...names.map((name) => `/docs/${name}`)];
const token = 'correct-horse-battery-staple';
const viewer = 'viewer-horse-battery-staple';
const scraper = 'scraper-horse-battery-staple';
const withTokens: Partial<AdminApiParts> = {
  token,
  tokens: [
    { name: 'alice', role: 'viewer', token: viewer },
    { name: 'prometheus', role: 'metrics', token: scraper },
  ],
};
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const browser = { accept: 'text/html,application/xhtml+xml' };

const start = async (parts: Partial<AdminApiParts> = {}) =>
  ending(await startFakeAdminApi(makeFakeOperations({ rollouts: [] }), parts));

/** All guides by their paths, as a browser gets them. */
async function readAll(): Promise<ReadonlyMap<string, string>> {
  const { url } = await start();
  const read = async (path: string) => [path, (await ask(`${url}${path}`)).text] as const;
  return new Map(await Promise.all(paths.map(read)));
}

const idsIn = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);

describe('the guides under /docs', () => {
  it('are served on this machine while no token is set', async () => {
    const { url } = await start();
    for (const path of [...paths, '/docs/']) {
      const answer = await ask(`${url}${path}`);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([
        ...[path, 200, 'text/html; charset=utf-8'],
      ]);
    }
    const refused = await ask(`${url}/docs`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(refused.status).toBe(403);
  });

  it.each(['/docs', '/docs/redis', '/docs/search.json', '/docs/no-such'])(
    'need the token of a viewer where tokens are set: %s',
    async (path) => {
      const { url } = await start(withTokens);
      const statusFor = async (headers: Record<string, string>) =>
        (await ask(`${url}${path}`, { headers })).status;
      const known = path.endsWith('no-such') ? 404 : 200;
      expect(await statusFor({})).toBe(401);
      expect(await statusFor(bearer('wrong-horse-battery-staple'))).toBe(401);
      expect(await statusFor(bearer(scraper))).toBe(403);
      expect(await statusFor(bearer(viewer))).toBe(known);
      expect(await statusFor(bearer(token))).toBe(known);
    },
  );

  it('ask a browser for the token, and show it nothing before', async () => {
    const { url } = await start(withTokens);
    const answer = await ask(`${url}/docs/redis`, { headers: browser });
    expect([answer.status, answer.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('<form id="sign-in">');
    expect(answer.text).not.toMatch(/ACL SETUSER|Back up Redis/);
    const program = await ask(`${url}/docs/redis`, { headers: { accept: 'application/json' } });
    expect(program.json()).toMatchObject({ code: 'unauthorized' });
    const elsewhere = await ask(`${url}/api/v1/rollouts`, { headers: browser });
    expect(elsewhere.json()).toMatchObject({ code: 'unauthorized' });
  });

  it('need no token where they are public, while everything else does, and a reload changes that', async () => {
    const api = await start({ ...withTokens, docs: 'public' });
    const statusOf = async (path: string) => (await ask(`${api.url}${path}`)).status;
    expect([
      await statusOf('/docs'),
      await statusOf('/docs/alerts'),
      await statusOf('/docs/search.json'),
    ]).toEqual([200, 200, 200]);
    for (const path of ['/metrics', '/api/v1/rollouts', '/docsx', '/docs/../api/v1/rollouts', '/docs/a/b'])
      expect([path, await statusOf(path)]).not.toEqual([path, 200]);
    api.replaceCallers({ token, tokens: [], trustedProxy: undefined, docs: 'token' });
    expect(await statusOf('/docs/alerts')).toBe(401);
  });

  it('load nothing, and run only their own script and style', async () => {
    const { url } = await start();
    const [one, other] = await Promise.all([ask(`${url}/docs/size-it`), ask(`${url}/docs/size-it`)]);
    const nonces = [one, other].map(({ text }) => /<script nonce="([^"]+)">/.exec(text)?.[1] ?? '');
    expect(new Set(nonces).size).toBe(2);
    expect(one.headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'nonce-${nonces[0]}'; style-src 'nonce-${nonces[0]}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types docs`,
    );
    expect(one.headers['x-content-type-options']).toBe('nosniff');
    for (const [path, html] of await readAll()) {
      const loaded = [...html.matchAll(/(?:src|<link [^>]*href)="([^"]*)"/g)].map(([, from]) => from);
      expect(
        loaded.filter((from) => !from?.startsWith('data:')),
        path,
      ).toEqual([]);
      expect(html, path).not.toMatch(/ (?:style|on\w+)=/);
    }
    expect(one.text).toMatch(/<img src="data:image\/svg\+xml;base64,[\w+/]{1000}/);
  });

  it('have no link that leads nowhere, and no anchor twice', async () => {
    const pages = await readAll();
    const links = [...pages].flatMap(([from, html]) =>
      [...html.matchAll(/<a href="([/#][^"]*)"/g)].map(([, href = '']) => ({ from, href })),
    );
    expect(links.length).toBeGreaterThan(500);
    const lost = links.filter(({ from, href }) => {
      const [path = '', anchor] = href.split('#');
      const html = path === '/' ? '' : pages.get(path === '' ? from : path);
      return html === undefined || (anchor !== undefined && !idsIn(html).includes(anchor));
    });
    expect(lost).toEqual([]);
    for (const [path, html] of pages) expect(new Set(idsIn(html)).size, path).toBe(idsIn(html).length);
  });

  it('have an anchor for each alert, by its name', async () => {
    const rules = readFileSync(new URL('../../../deploy/prometheus/rules.yml', import.meta.url), 'utf8');
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, alert]) => alert);
    expect(alerts.length).toBeGreaterThan(30);
    const ids = idsIn((await readAll()).get('/docs/alerts') ?? '');
    expect(alerts.filter((alert) => !ids.includes(alert ?? ''))).toEqual([]);
  });

  it('show no HTML of a guide, such as its comments', async () => {
    for (const [path, html] of await readAll()) expect(html, path).not.toMatch(/<!--|&lt;!--/);
  });

  it('answer with their list where there is no such guide, without the text of the address as markup', async () => {
    const { url } = await start();
    const answer = await ask(`${url}/docs/%3Cscript%3E`);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('There is no guide &lt;script&gt;');
    expect(answer.text).toContain('href="/docs/install"');
  });

  it('have a small index for the search', async () => {
    const { url } = await start();
    const answer = await ask(`${url}/docs/search.json`);
    expect(answer.json()).toContainEqual(
      expect.objectContaining({
        guide: 'alerts',
        anchor: 'UpwaveNoProgress',
        words: expect.stringContaining('clock'),
      }),
    );
    // The page reads it once, when somebody searches, and compressed it has a fifth of this.
    expect(answer.text.length).toBeLessThan(260_000);
  });
});
