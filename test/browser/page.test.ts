import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ending } from '../support/ending.ts';
import {
  anExplanation,
  aRolloutEvent,
  aRolloutStatus,
  aWaveStatus,
  countsOf,
} from '../support/fake-operations.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, takePicture } from '../support/page/browser.ts';
import { waiting, worldAudit, worldBuilds, worldCourse, worldRollouts } from '../support/page/page-world.ts';
import { pageClock as clock, openPage, servePage, startPreview } from '../support/page/serve-page.ts';
import { startFakeAdminApi } from '../support/start-fake-admin-api.ts';
import { aCause, aHeldStratum, aPolicyStatus, strataHolding } from '../support/status-parts.ts';

/** Advances the page's own clock until a condition holds. */
async function inTime(page: Page, isSo: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(async () => {
      await page.clock.runFor(1_000);
      return isSo();
    })
    .toBe(true);
}

/** Reads a stream of the API as text. */
async function openStream(url: string) {
  const controller = new AbortController();
  const { body } = await fetch(url, { signal: controller.signal });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    until: async (words: string) => {
      while (!text.includes(words)) text += (await reader?.read())?.value ?? '';
    },
    close: async () => controller.abort(),
  };
}

if (!hasBrowser) process.stdout.write('no /usr/bin/chromium: the tests of the page are skipped\n');

const [running] = worldRollouts;

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  const open = (url: string, options: Parameters<Browser['newPage']>[0] = {}) =>
    openPage(browser, url, options);
  const openRollout = async (changes: Parameters<typeof aRolloutStatus>[0] = {}) => {
    const status = aRolloutStatus(changes);
    const served = await servePage([status]);
    return { status, ...served, page: await open(`${served.url}/#/rollouts/${status.id}`) };
  };

  it('shows every policy with what it needs, those that need a person first', async () => {
    const page = await open((await servePage(worldRollouts)).url);
    await expect
      .poll(() => page.locator('.policy h3 a').allTextContents())
      .toEqual(['lab', 'production', 'edge', 'offices']);
    const row = page.locator('.policy', { hasText: 'production' });
    for (const text of [
      'needs approval',
      '180 / 1,215',
      '11 failed',
      'rest 3/3',
      '0 of 20',
      '1h40m after approval',
    ])
      expect(await row.textContent()).toContain(text);
    expect(await row.getByRole('button').allTextContents()).toEqual(['approve wave rest']);
    expect(await page.locator('.policy', { hasText: 'lab' }).locator('.need').textContent()).toBe(
      'It is held. Wave canary has 2 failures of 0 allowed. Check the cause, then release build 19.536-4 and resume, abort or roll back.',
    );
    const links = page.locator('.policy').getByText('What to do');
    const hrefs = (await links.all()).map((link) => link.getAttribute('href'));
    expect(await Promise.all(hrefs)).toEqual([
      '/docs/alerts#UpwaveRolloutHeld',
      '/docs/alerts#UpwaveRolloutAwaitsApproval',
    ]);
    expect(await page.title()).toBe('needs approval 14%, 11 failed · upwave');
  });

  it('shows what needs a person while the rest continues, and never "Nothing needs you" then (P16)', async () => {
    const of = (id: string, changes: Parameters<typeof aRolloutStatus>[0] = {}) =>
      aRolloutStatus({ id: `${id}-20260302-1`, policy: id, ...changes });
    const soaks = { kind: 'soak', reason: 'wave canary soaks', until: null } as const;
    const held = { kind: 'stratumHeld', reason: 'stratum AIX is held', until: null } as const;
    const taken = { state: 'rollingBack', rollbackId: 'taken-20260302-2' } as const;
    const { url } = await servePage([
      of('well', { blockers: [soaks] }),
      of('held', { blockers: [soaks, held] }),
      { ...of('taken', taken), headline: { kind: 'rollingBack', needsPerson: true } },
    ]);
    const page = await open(url);
    const needOf = (policy: string) =>
      page
        .locator('.policy', { has: page.getByRole('link', { name: policy, exact: true }) })
        .locator('.need')
        .textContent();
    expect(await needOf('well')).toBe('Needs nothing. Wave canary soaks.');
    expect(await needOf('held')).toBe('Stratum AIX is held. The rest continues.');
    expect(await needOf('taken')).toBe('Its rollback waits. taken-20260302-2 has stopped and needs you.');
  });

  it('shows first that a policy waits for an operator to start it again, with its button (P16)', async () => {
    const needs = { kind: 'start', reason: 'Redis lost its data, and lost-20260302-1 was paused' } as const;
    const policies = ['web', 'lost'].map((policy) => aPolicyStatus({ policy }));
    const needing = policies.map((each) => (each.policy === 'lost' ? { ...each, needs } : each));
    const data = { policies: { policies: needing, orphans: [] } };
    const ended = { policy: 'lost', id: 'lost-20260301-1', state: 'succeeded', endedAt: 1 } as const;
    const running = aRolloutStatus({ policy: 'web', id: 'web-20260302-1' });
    const { url } = await servePage([running, aRolloutStatus(ended)], {}, 1, data);
    const page = await open(url);
    await expect.poll(() => page.textContent('.lead')).toBe('1 policy needs you.');
    expect(await page.title()).toBe('start needed · upwave');
    const row = page.locator('.policy').first();
    expect(await row.locator('.need').textContent()).toBe(
      'Start it again. Redis lost its data, and lost-20260302-1 was paused.',
    );
    expect(await row.getByText('What to do').getAttribute('href')).toBe('/docs/alerts#UpwaveRedisEmptied');
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'start lost' }).click();
    await page.getByRole('dialog').getByText('Start a rollout of lost').waitFor();
  });

  it('shows at its head that collectors of held strata wait, where no rollout is stopped', async () => {
    const id = 'aside-20260302-1';
    const strata = strataHolding(aHeldStratum({ waiting: 5 }));
    const { url } = await servePage([aRolloutStatus({ id, policy: 'aside', strata })]);
    const page = await open(url);
    expect(await page.locator('.lead').first().textContent()).toMatch(
      /^No rollout is stopped\. 5 collectors of held strata wait for a release\./,
    );
  });

  it('says once that a held build stops several rollouts, with the cause at each, and finds one of many policies', async () => {
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'edge-20261122-1: 4 failures', at: 0 };
    const stopped = { state: 'held', headline: { kind: 'held', needsPerson: true }, buildHold } as const;
    const broke = aRolloutStatus({
      ...{ id: 'edge-20261122-1', policy: 'edge', ...stopped, reasonKind: 'failures', reason: '4 failures' },
      counts: countsOf({ failed: 4 }),
      causes: [
        {
          of: 'failed',
          total: 4,
          causes: [aCause({ text: 'disk full', count: 3 })],
          others: { count: 0, causes: 0, unread: 0 },
        },
      ],
    });
    const waits = ['lab', 'production'].map((policy) =>
      aRolloutStatus({ id: `${policy}-20261122-1`, policy, ...stopped, reasonKind: 'buildHeld' }),
    );
    const others = ['a', 'b', 'c'].map((policy) => aRolloutStatus({ id: `${policy}-20261122-1`, policy }));
    const page = await open((await servePage([broke, ...waits, ...others])).url);
    const incident = page.getByRole('region', { name: 'build 19.536-4' });
    await incident.getByText('which stops 3 rollouts').waitFor();
    await incident.getByRole('link', { name: 'production' }).waitFor();
    const row = (policy: string) => page.locator('.policy', { hasText: policy });
    expect(await page.locator('.policy h3 a').first().textContent()).toBe('edge');
    await row('production').getByText('see above').waitFor();
    await row('edge').getByText('3 of 4 failed: disk full').waitFor();
    expect(await row('edge').getByText('see above').count()).toBe(0);
    await page.keyboard.press('/');
    await page.keyboard.type('LAB');
    await expect.poll(() => page.locator('.policy h3 a').allTextContents()).toEqual(['lab']);
    await incident.getByRole('button', { name: 'release build 19.536-4 …' }).click();
    await page.getByRole('dialog').getByText('Also resume 3 rollouts').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('shows a rollout with its waves, gates, causes, strata, plan and events, and escapes every text', async () => {
    const { url } = await servePage(worldRollouts);
    const page = await open(`${url}/#/rollouts/${waiting}`);
    await page.getByRole('tab', { name: 'Events' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Markdown' }).click();
    expect((await download).suggestedFilename()).toBe(`${waiting}.md`);
    const text = (await page.locator('main').textContent()) ?? '';
    for (const each of [
      'Approve wave rest. 1,021 collectors wait for it.',
      'errors 0.998, expected >= 0.99',
      '10 of 11 failures have osName=Windows* (10 of 66 there, 1 of 125 elsewhere).',
      'failure budget 4 of 5',
      'permission denied: cannot write …',
      '60 of 405, 6 failed',
      'by alice',
      'Tokyo)',
      'web-<b>7</b>\\u202e',
    ])
      expect(text).toContain(each);
    const panel = page.getByRole('tabpanel');
    await page.getByRole('tab', { name: 'Events' }).focus();
    await page.keyboard.press('ArrowRight');
    await panel.getByText('Asia/Tokyo').waitFor();
    await page.keyboard.press('ArrowRight');
    await panel.getByText('excluded by select.exclude[1]').waitFor();
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Left out 17');
    expect(await panel.locator('code').allTextContents()).toEqual([
      "upwave plan production --members | grep -F ': excluded by select.exclude[1]'",
    ]);
    const trend = page.getByRole('img', {
      name: /^errors from .*: values 0\.97 to 0\.998, limit >= 0\.99; 26 of 30/,
    });
    expect(await trend.isVisible()).toBe(true);
    const builds = page.getByRole('img', { name: '180 on 19.536-4, 720 on 19.441-2, 315 on 19.402-1' });
    await page.getByRole('tab', { name: 'Progress' }).click();
    expect(await builds.isVisible()).toBe(true);
    const alike = page.getByRole('link', { name: 'Show them' });
    expect(await alike.getAttribute('href')).toContain('/collectors?attributes=osName%3DWindows*');
    await page.getByRole('link', { name: 'permission denied' }).click();
    await expect.poll(() => page.url()).toContain('/collectors?state=failed&cause=permission+denied');
    await expect.poll(() => page.locator('.found').textContent()).toBe('3 collectors');
  });

  it('counts rolled-back collectors apart from withdrawn ones, and ends the chart with the present counts', async () => {
    const counts = countsOf({ succeeded: 12, failed: 8, withdrawn: 32, rolledBack: 167 });
    const { page } = await openRollout({ state: 'rolledBack', endedAt: Date.now(), planned: 219, counts });
    await expect
      .poll(() => page.locator('.now .key li').allTextContents())
      .toEqual(['12 succeeded', '8 failed', '32 withdrawn', '167 rolled back']);
    await page.getByRole('img', { name: '12 succeeded, 8 failed, 0 in flight at' }).waitFor();
    await page.getByRole('link', { name: 'rolled back' }).click();
    await expect.poll(() => page.url()).toContain('/collectors?state=rolledBack');
    await page.locator('.found').waitFor();
  });

  it('breaks the label of a stratum between words, not in one', async () => {
    const of = { size: 9, succeeded: 9, failed: 0, active: 0, waiting: 0, isHeld: false };
    const labels = ['category=prod/db/postgresql-cluster', 'category=prod/web/frontend-servers'];
    const strata = labels.map((label) => ({ ...of, label }));
    const served = await servePage(worldRollouts, {}, 1, { course: { ...worldCourse, strata } });
    const page = await open(`${served.url}/#/rollouts/${waiting}`, { viewport: { width: 390, height: 844 } });
    const label = page.locator('.heat a', { hasText: 'postgresql' }).locator('bdi');
    await label.waitFor();
    const linesOf = await page.evaluate(`
      const texts = [...document.querySelector('.heat a bdi').childNodes].filter(
        ({ nodeType, textContent }) => nodeType === 3 && textContent !== '',
      );
      texts.map((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return [text.textContent, new Set([...range.getClientRects()].map(({ top }) => top)).size];
      })`);
    expect(linesOf).toEqual([
      ['category=', 1],
      ['prod/', 1],
      ['db/', 1],
      ['postgresql-cluster', 1],
    ]);
    const lineCount = await page.evaluate("document.querySelector('.heat a bdi').getClientRects().length");
    expect(lineCount).toBeGreaterThan(1);
    await takePicture(page, 'strata-label-390');
  });

  it('draws the rollout in one picture without overlaps, and a keyboard opens the same in words', async () => {
    const { url } = await servePage(worldRollouts);
    const page = await open(`${url}/#/rollouts/${waiting}`);
    const picture = page.getByRole('img', { name: /^Waves from / });
    await picture.waitFor();
    for (const [width, shown, hidden] of [
      [1280, 'in-wide', 'in-narrow'],
      [390, 'in-narrow', 'in-wide'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const displayOf = (form: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('.night g.${form}')).display`);
      expect([await displayOf(shown), await displayOf(hidden)]).toEqual(['inline', 'none']);
      for (const texts of [`.${shown} .number rect`, `.${shown} > text`]) {
        const boxes = (
          await Promise.all((await picture.locator(texts).all()).map((each) => each.boundingBox()))
        )
          .filter((box) => box !== null)
          .sort((a, b) => a.y - b.y || a.x - b.x);
        expect(boxes.length).toBeGreaterThan(1);
        for (const [index, box] of boxes.entries()) {
          const before = boxes[index - 1];
          if (before?.y === box.y) expect(box.x).toBeGreaterThanOrEqual(before.x + before.width);
        }
      }
    }
    const list = page.locator('.night ol');
    expect(await list.isVisible()).toBe(false);
    await page.getByText('The same in words').focus();
    await page.keyboard.press('Enter');
    expect(await list.isVisible()).toBe(true);
    const items = await list.locator('li').allTextContents();
    expect(items.map((item) => item.replace(/(\w+ \d+ )?\d\d:\d\d/g, '_'))).toEqual(
      expect.arrayContaining([
        '_ to _: held: wave canary: 5 failures, <b>4</b> allowed',
        '_: resumed by alice: known fault of two machines',
        '_: wave early: errors 0.97, limit >= 0.99: missed',
        'Since _: wave rest waits for approval',
      ]),
    );
  });

  const waits = [aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' })];
  const approval = { state: 'awaitingApproval', planHash: '7f3a' } as const;
  const asked = [
    ['pause', { verb: 'pause' }, {}],
    ['resume', { verb: 'resume', hold: 17 }, { state: 'paused', hold: 17 }],
    ['approve wave rest', { verb: 'approve', wave: 'rest' }, { waves: waits }],
    ['approve plan 7f3a', { verb: 'approve', planHash: '7f3a' }, approval],
    [
      'skip soak of wave canary',
      { verb: 'skipSoak', wave: 'canary' },
      { waves: [aWaveStatus({ state: 'soaking' })] },
    ],
    ['retry 1 failed', { verb: 'retry', failed: 1 }, { counts: countsOf({ failed: 1 }) }],
    ['abort', { verb: 'abort' }, {}],
    ['roll back', { verb: 'rollback', shown: { collectors: 40, leftBehind: 3 } }, {}],
  ] as const;
  it('shows the consequences of each verb, and sends the shown target with the reason', async () => {
    const idOf = (index: number) => `production-20260302-${index + 1}`;
    const { operations, url } = await servePage(
      asked.map(([, { verb }, changes], index) =>
        aRolloutStatus({ ...changes, id: idOf(index), verbs: [verb] }),
      ),
    );
    const page = await open(url);
    for (const [index, [label, sent]] of asked.entries()) {
      await page.goto(`${url}/#/rollouts/${idOf(index)}`);
      await page.getByRole('button', { name: label }).click();
      const dialog = page.getByRole('dialog');
      await expect.poll(() => dialog.locator('.consequences li').count()).toBeGreaterThan(0);
      await dialog.getByLabel('Reason').fill('checked it');
      const send = dialog.getByRole('button', { name: label });
      if (sent.verb === 'abort' || sent.verb === 'rollback') {
        expect(await send.isDisabled()).toBe(true);
        await dialog.getByLabel('Type production to confirm').fill('production');
      }
      await send.click();
      await dialog.waitFor({ state: 'detached' });
      expect(operations.requests.at(-1)).toMatchObject({ by: 'operator', reason: 'checked it', ...sent });
    }
    expect(operations.requests).toHaveLength(asked.length);
  });

  it('switches between accounts, names that of each rollout, and never hides that one needs a person (P16)', async () => {
    const of = (accountName: string, changes: Parameters<typeof aRolloutStatus>[0] = {}) =>
      aRolloutStatus({
        ...{ id: `web-${accountName}-20260302-1`, policy: `web-${accountName}`, accountName },
        ...changes,
      });
    const held = { state: 'held', hold: 3, verbs: ['resume'] } as const;
    const policies = ['eu', 'us', 'ap'].map((accountName) => ({
      ...{ policy: `web-${accountName}`, accountName, lastScan: null, lastGoodAt: null, nextScanAt: null },
      config: { kind: 'agreed' as const, others: 0 },
    }));
    const data = { policies: { policies, orphans: [] } };
    const page = await open((await servePage([of('eu'), of('us', held)], {}, 1, data)).url);
    const rows = () => page.locator('.policy h3').allTextContents();
    await expect.poll(rows).toEqual(['web-us held', 'web-eu running', 'web-ap account ap']);
    expect(await page.locator('.policy .target').first().textContent()).toContain('account us');
    await page.getByLabel('Account').selectOption('eu');
    await expect.poll(rows).toEqual(['web-eu running']);
    await page.reload();
    await expect.poll(rows).toEqual(['web-eu running']);
    await page.getByText('Nothing needs you in account eu.').waitFor();
    await page.getByText('1 rollout needs you in other accounts than eu.').waitFor();
    await page.getByRole('button', { name: 'show all accounts' }).click();
    await page.getByRole('link', { name: 'web-us' }).first().click();
    await page.locator('article.rollout .title', { hasText: 'account us' }).waitFor();
  });

  it('shows first why the daemon cannot work, or cannot send notifications', async () => {
    const { operations, url } = await servePage(worldRollouts);
    operations.standAt({
      ...{ policies: [], orphans: [], configProblem: 'line 3: no waves', notReady: 'Redis evicts keys.' },
      notificationProblems: ['slack: HTTP 410'],
    });
    const page = await open(url);
    await expect
      .poll(() => page.getByRole('alert').allTextContents())
      .toEqual([
        'The daemon cannot work. Redis evicts keys.',
        'The config file has errors. The daemon uses the last valid config. line 3: no waves',
        'Notifications fail: slack: HTTP 410',
      ]);
  });

  it('releases a build, and resumes the rollouts that are held for it', async () => {
    const build = '19.536-4';
    const buildHold = { build, by: 'daemon', reason: `${waiting}, 5 failures`, at: 0 };
    const held = { buildHold, state: 'held', hold: 3, verbs: ['abort'] } as const;
    const rollouts = ['eu', 'us'].map((policy) =>
      aRolloutStatus({ id: `${policy}-20260302-1`, policy, ...held }),
    );
    const holdResults = { [build]: { kind: 'done', subject: { kind: 'build', build } } } as const;
    const data = { held: { builds: [buildHold], collectors: [], groups: [], strata: [] }, holdResults };
    const { operations, url } = await servePage(rollouts, {}, 1, data);
    const page = await open(url);
    await page.getByRole('button', { name: `release build ${build}`, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await page.locator('dialog :focus').waitFor();
    await page.keyboard.type('a new build');
    await dialog.getByLabel('Also resume 2 rollouts: eu-20260302-1, us-20260302-1').check();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'release' }).click();
    await expect
      .poll(() => operations.requests)
      .toMatchObject(rollouts.map(({ id }) => ({ verb: 'resume', rolloutId: id, hold: 3 })));
    expect(operations.holdRequests).toMatchObject([
      { did: 'release', subject: build, reason: 'a new build' },
    ]);
  });

  it('offers no release of a stratum in a rollout that has ended', async () => {
    const why = { kind: 'outlier', reason: '2 of 2 failed', by: 'daemon', at: 0 } as const;
    const held = [{ label: 'Linux / arm64', ...why, waiting: 3 }];
    const strata = { total: 2, held, uncovered: { count: 0, labels: [] } };
    const page = async (endedAt: number | null) => (await openRollout({ strata, endedAt })).page;
    const running = await page(null);
    await running.getByText('3 collectors wait').waitFor();
    expect(await running.getByRole('button', { name: 'release stratum' }).count()).toBe(1);
    await running.getByRole('button', { name: 'release stratum' }).click();
    await running.getByRole('dialog').getByText('3 collectors of production-20260302-1 can start.').waitFor();
    const over = await page(1);
    await over.getByText('2 of 2 failed').first().waitFor();
    expect(await over.getByText('collectors wait').count()).toBe(0);
    expect(await over.getByRole('button', { name: 'release stratum' }).count()).toBe(0);
  });

  it('says once that a group is held, by whom and why, with how many wait', async () => {
    const label = 'fields.rack=r7';
    const held = [aHeldStratum({ label, reason: 'rewired', by: 'root', waiting: 1_240 })];
    const reason = `group ${label} is held by root: rewired`;
    const { page } = await openRollout({
      strata: strataHolding(...held),
      blockers: [{ kind: 'stratumHeld', reason, until: null }],
    });
    const card = page.getByRole('region', { name: 'What to do now' });
    const note = card.getByText('held by root since');
    await note.waitFor();
    expect(await note.textContent()).toMatch(
      /^Group fields.rack=r7 held by root since .*: rewired · 1,240 collectors wait$/,
    );
    expect((await card.textContent())?.match(/rewired|by root/g)).toEqual(['by root', 'rewired']);
  });

  it('shows a pace as a quiet wait with its next start, in the headline and at the open wave', async () => {
    const until = Date.UTC(2026, 10, 22, 22, 0, 40);
    const pace = { kind: 'pace', reason: 'the pace allows 2,400 starts an hour', until } as const;
    const { page } = await openRollout({ blockers: [pace] });
    await page
      .getByText(/^Needs nothing. The pace allows 2,400 starts an hour; next start .*:40 UTC/)
      .waitFor();
    await page.locator('.waves').getByText('pace: next start').waitFor();
    expect(await page.locator('.waves time').first().getAttribute('datetime')).toContain('22:00:40');
    expect(await page.locator('.note').count()).toBe(0);
  });

  it('links the rollout for which a build is held', async () => {
    const hold = { build: '19.536-4', by: 'daemon', reason: `${waiting}, 5 failures, 4 allowed`, at: 0 };
    const data = { held: { builds: [hold], collectors: [], groups: [], strata: [] } };
    const page = await open((await servePage([], {}, 1, data)).url);
    await page.getByRole('link', { name: waiting }).click();
    await expect.poll(() => page.url()).toContain(`#/rollouts/${waiting}`);
  });

  it('offers the release of a held build before every other verb', async () => {
    const buildHold = { build: '19.536-4', by: 'daemon', reason: `${waiting}: 3 failures`, at: 0 };
    const verbs = ['abort', 'rollback', 'retry'] as const;
    const { page } = await openRollout({ buildHold, state: 'held', verbs, sharedAttribute: null });
    const buttons = page.getByRole('region', { name: 'What to do now' }).getByRole('button');
    expect(await buttons.allTextContents()).toEqual([
      'release build 19.536-4 …',
      'abort',
      'roll back',
      expect.stringMatching(/^retry/),
    ]);
    expect(await buttons.first().getAttribute('class')).toBe('primary');
  });

  it('offers both ways on where only held strata remain: an end without them, and their release', async () => {
    const labels = ['AIX', 'fields.rack=r7', 'HP-UX'];
    const strata = strataHolding(...labels.map((label) => aHeldStratum({ label, waiting: 4, failed: 1 })));
    const onlyHeld = { state: 'held', hold: 3, reasonKind: 'onlyHeldStrata' } as const;
    const waves = [aWaveStatus({ setAside: 12 })];
    const status = aRolloutStatus({
      ...{ ...onlyHeld, strata, waves, counts: countsOf({ pending: 12 }), sharedAttribute: null },
      verbs: ['resume', 'abort'],
    });
    const rolloutId = status.id;
    const done = (label: string) =>
      ({ kind: 'done', subject: { kind: 'stratum', label, rolloutId } }) as const;
    const holdResults = Object.fromEntries(labels.map((label) => [label, done(label)]));
    const { operations, url } = await servePage([status], {}, 1, { holdResults });
    const overview = await open(url);
    const row = overview.locator('.policy .verbs').getByRole('button');
    await row.first().waitFor();
    expect(await row.allTextContents()).toEqual(['resume', 'release the 3 held strata …']);
    const page = await open(`${url}/#/rollouts/${status.id}`);
    const card = page.getByRole('region', { name: 'What to do now' });
    const buttons = card.locator('.verbs').getByRole('button');
    await buttons.first().waitFor();
    expect(await buttons.allTextContents()).toEqual(['resume', 'release the 3 held strata …', 'abort']);
    for (const at of [0, 1]) expect(await buttons.nth(at).getAttribute('class')).toBe('primary');
    await buttons.nth(1).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Group fields.rack=r7: 4 collectors of').waitFor();
    await page.locator('dialog :focus').waitFor();
    await page.keyboard.type('the rack is back');
    await dialog.getByRole('button', { name: 'release' }).click();
    await expect
      .poll(() => operations.holdRequests)
      .toMatchObject(labels.map((subject) => ({ did: 'release', subject, reason: 'the rack is back' })));
  });

  it('links the rollout whose failures hold the build of another policy', async () => {
    const reason = `${waiting}: wave canary: 3 failures, 2 allowed`;
    const buildHold = { build: '19.536-4', by: 'daemon', reason, at: 0 };
    const held = {
      state: 'held',
      reasonKind: 'buildHeld',
      reason: `build 19.536-4 is held: ${reason}`,
    } as const;
    const scanned = { at: 0, outcome: 'nothing', reason: `build 19.536-4 is held: ${reason}` } as const;
    const policies = { policies: [aPolicyStatus({ policy: 'ap', lastScan: scanned })], orphans: [] };
    for (const changes of [held, { state: 'awaitingApproval' } as const]) {
      const rollout = aRolloutStatus({ id: 'eu-20261122-1', policy: 'eu', buildHold, ...changes });
      const page = await open((await servePage([rollout], {}, 1, { policies })).url);
      const scans = page.getByRole('region', { name: 'Scans' });
      for (const place of [page.locator('.policy', { hasText: 'eu' }), scans])
        expect(await place.getByRole('link', { name: waiting }).getAttribute('href')).toContain(waiting);
      expect(await page.getByText('3 failures').count()).toBe(2);
    }
  });

  it('names who is left out of a plan before its approval, and earlier failures of its build', async () => {
    const leftOut = [
      { kind: 'excluded', reason: 'excluded', count: 3 },
      { kind: 'failedBefore', reason: 'failed in an earlier rollout of this build', count: 2 },
      { kind: 'atTarget', reason: 'runs the target build already', count: 1_020 },
    ] as const;
    const plan = { state: 'awaitingApproval', verbs: ['approve'], leftOut } as const;
    const past = { state: 'rolledBack', endedAt: 1, reason: 'by lab-20260301-2' } as const;
    const { url } = await servePage([
      aRolloutStatus(plan),
      aRolloutStatus({ id: 'lab-20260301-1', policy: 'lab', ...past }),
    ]);
    const page = await open(`${url}/#/rollouts/production-20260302-1`);
    const expected = [
      '2 left out: failed in an earlier rollout of this build.',
      'lab-20260301-1 to this build was rolled back by lab-20260301-2.',
      'The collectors run 19.441-2 now.',
      '1,020 left out: runs the target build already.',
      '3 left out: excluded.',
    ];
    const card = page.getByRole('region', { name: 'What to do now' });
    await expect.poll(() => card.locator('li').allTextContents()).toEqual(expect.arrayContaining(expected));
    await page.getByRole('button', { name: 'approve plan 7f3a' }).click();
    const lines = page.getByRole('dialog').locator('li');
    await expect
      .poll(() => lines.allTextContents())
      .toEqual(['Plan 7f3a: 10 collectors to 19.536-4 (canary 2, rest 8).', ...expected]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('folds the scans of many policies, except those with a problem', async () => {
    const failed = { at: 0, outcome: 'failed', reason: 'HTTP 500' } as const;
    const scans = ['a', 'b', 'c', 'd', 'e', 'f'].map((policy) => aPolicyStatus({ policy }));
    const policies = [...scans, aPolicyStatus({ policy: 'broken', lastScan: failed })];
    const data = { policies: { policies, orphans: [] } };
    const page = await open((await servePage([], {}, 1, data)).url);
    const card = page.getByRole('region', { name: 'Scans' });
    await card.getByText('HTTP 500').waitFor();
    const starts = card.getByRole('button', { name: /^start/ });
    expect(await starts.count()).toBe(1);
    await card.getByText('6 policies without a failed scan').click();
    expect(await starts.count()).toBe(7);
  });

  it.each([1440, 1024])('draws the bars of all policies alike at %i pixels', async (width) => {
    const { url } = await servePage(worldRollouts);
    const page = await open(url, { viewport: { width, height: 900 } });
    await page.locator('.policy').first().waitFor();
    const boxes = await Promise.all(
      (await page.locator('.policy .bar').all()).map((bar) => bar.boundingBox()),
    );
    const widths = boxes.map((box) => Math.round(box?.width ?? 0));
    expect(new Set(widths).size).toBe(1);
    expect(widths[0]).toBeGreaterThan(150);
  });

  it('does not offer to start a policy beside its running rollout, and says what to do', async () => {
    const { page, url, status } = await openRollout();
    await page.goto(`${url}/#/`);
    const button = page.getByRole('button', { name: 'start production' });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute('title')).toContain(`upwave abort ${status.id}`);
  });

  it('starts a policy, and holds a collector', async () => {
    const { operations, page, url } = await openRollout({ state: 'succeeded', endedAt: 1 });
    await page.goto(`${url}/#/`);
    await page.getByRole('button', { name: 'start production' }).click();
    await page.getByText('Plan 7f3a: 12 collectors to 19.455-2').waitFor();
    await page.getByText('production-20260302-1 to this build was aborted by alice: CHG-9.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'start production' }).click();
    // With the answer the page goes to what was started.
    await page.waitForURL(/#\/rollouts\//);
    expect(operations.starts).toMatchObject([{ policy: 'production', planHash: '7f3a' }]);

    await page.goto(`${url}/#/collectors/2`);
    const others = page.getByRole('link', { name: 'Windows Server 2016' });
    expect(await others.getAttribute('href')).toContain('attributes=osName%3DWindows+Server+2016');
    await page.getByText('all 50 slots are taken').waitFor();
    await page.getByRole('button', { name: 'hold' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'hold' }).click();
    await expect.poll(() => operations.holdRequests).toMatchObject([{ did: 'hold', subject: '2' }]);
  });

  it('says in one line when upgrades of a started plan begin', async () => {
    const window = { isOpen: false, until: Date.now() + 3_600_000, reason: 'outside the window' };
    const preview = { kind: 'planned', preview: { ...startPreview, window } } as const;
    const page = await open((await servePage([], {}, 1, { preview })).url, { timezoneId: 'UTC' });
    await page.getByRole('button', { name: 'start production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Plan 7f3a').waitFor();
    const lines = (await dialog.locator('li').allTextContents()).filter((text) => text.includes(' start'));
    expect(lines).toEqual([
      expect.stringMatching(
        /^The window is closed now \(outside the window\)\. Upgrades start when it opens, at (?:\w+ \d+ )?\d\d:\d\d UTC\.$/,
      ),
    ]);
  });

  it('shows what a reload would change before it can be asked for, and what it changed', async () => {
    const cap = { key: 'concurrency', from: '50', to: '5', takesEffect: 'now' } as const;
    const wave = { key: 'waves.canary.size', from: '1', to: '2', takesEffect: 'nextRollout' } as const;
    const changes = {
      policies: [{ policy: 'production', kind: 'changed' as const, differences: [cap, wave] }],
      settings: ['http.tokens'],
      needsRestart: ['log.level'],
      rollouts: [{ rollout: 'production-1', followed: [cap], waiting: [wave] }],
      warnings: [],
    };
    const { operations, url } = await servePage(worldRollouts, {}, 1, {
      reloadPreview: { kind: 'shown', ...changes, configs: [] },
      reload: { kind: 'reloaded', ...changes },
    });
    const page = await open(url);
    await page.getByRole('button', { name: 'reload the config file' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('production-1 would follow: concurrency 50 → 5').waitFor();
    await dialog.getByText('immediately: http.tokens').waitFor();
    await dialog.getByText('the daemon keeps its old log.level until it is restarted').waitFor();
    await dialog.getByRole('button', { name: 'reload' }).click();
    await dialog.getByText('now: production-1: concurrency 50 → 5').waitFor();
    expect(operations.reloads).toHaveLength(1);
  });

  it('offers no reload while the config file has mistakes', async () => {
    const reason = 'upwave.yaml:3: concurency is not a key';
    const { url } = await servePage(worldRollouts, {}, 1, { reloadPreview: { kind: 'refused', reason } });
    const page = await open(url);
    await page.getByRole('button', { name: 'reload the config file' }).click();
    await page.getByText(reason).waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'reload' }).isDisabled()).toBe(true);
  });

  it('opens the dialog that a message links to, once', async () => {
    const hold = { state: 'held', hold: 7, verbs: ['resume', 'abort'] } as const;
    const { operations, page, url, status } = await openRollout(hold);
    const dialog = page.getByRole('dialog');
    const rollout = `${url}/#/rollouts/${status.id}`;
    await page.goto(`${rollout}?do=resume`);
    await dialog.getByRole('heading', { name: 'Resume' }).waitFor();
    expect(page.url()).toBe(rollout);
    await dialog.getByRole('button', { name: 'resume' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(operations.requests).toMatchObject([{ verb: 'resume', hold: 7 }]);

    await page.goto(`${rollout}?do=release&what=19.536-4`);
    await dialog.getByRole('heading', { name: 'Release 19.536-4' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'production' }).waitFor();
    expect(await dialog.count()).toBe(0);

    await page.goto(`${rollout}?do=pause`);
    await dialog.getByText('Somebody else acted, or the rollout continued.').waitFor();
    expect(await dialog.getByRole('button', { name: 'pause' }).isDisabled()).toBe(true);
  });

  it('opens the dialog of a start that a message links to, once', async () => {
    const { page, url } = await openRollout({ state: 'succeeded', endedAt: 1 });
    const dialog = page.getByRole('dialog');
    await page.goto(`${url}/#/?do=start&what=production`);
    await dialog.getByText('Plan 7f3a: 12 collectors to 19.455-2').waitFor();
    expect(page.url()).toBe(`${url}/#/`);
    await page.reload();
    await page.getByRole('button', { name: 'start production' }).waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('shows why a verb was refused, and keeps the dialog', async () => {
    const ended = { state: 'succeeded', endedAt: Date.now(), verbs: ['pause'] } as const;
    const { page } = await openRollout(ended);
    await page.getByRole('button', { name: 'pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'pause' }).click();
    await page.getByText('it has ended: succeeded').waitFor();
  });

  it('keeps focus, typed text and an open dialog while the state changes', async () => {
    const { operations, page, status } = await openRollout();
    await page.getByRole('button', { name: 'pause' }).click();
    await page.getByLabel('Reason').fill('half a rea');
    operations.rolloutStandsAt({ ...status, counts: countsOf({ succeeded: 7, pending: 3 }) });
    await page.getByRole('link', { name: '7 succeeded' }).waitFor();
    await page.keyboard.type('son');
    expect(await page.getByLabel('Reason').inputValue()).toBe('half a reason');
  });

  it('lets one of two people act, and shows the other what was done', async () => {
    const { operations, page, url, status } = await openRollout({ waves: waits, verbs: ['approve'] });
    const other = await open(`${url}/#/rollouts/${status.id}`);
    for (const each of [page, other])
      await each.getByRole('button', { name: 'approve wave rest' }).first().click();
    operations.rolloutStandsAt(aRolloutStatus({ reason: 'approved by bob' }));
    await expect.poll(() => other.getByRole('alert').textContent()).toContain('It is now: approved by bob');
    expect(await other.getByRole('dialog').getByRole('button', { name: 'approve' }).isDisabled()).toBe(true);
  });

  it('keeps the last state, greyed and with its age, during an outage of the daemon, and continues after it', async () => {
    const { operations, url, api, status } = await openRollout();
    const page = ending(await browser.newPage());
    await page.clock.install();
    await page.goto(`${url}/#/rollouts/${status.id}`);
    await page.getByText('live', { exact: true }).waitFor();
    await api.close();
    await page
      .getByText(
        'The daemon does not answer. Check that it is running; this page continues when the daemon is back. This is the state of',
      )
      .waitFor();
    expect(await page.locator('main.stale').count()).toBe(1);
    // Also for who reads further down.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const noteTop = await page.evaluate<number>(
      'document.querySelector(".away").getBoundingClientRect().top',
    );
    expect(noteTop).toBeGreaterThanOrEqual(0);
    await page.getByRole('button', { name: 'pause' }).waitFor();
    operations.rolloutStandsAt({
      ...status,
      reason: 'it went on meanwhile',
      counts: countsOf({ succeeded: 9 }),
    });
    ending(await startFakeAdminApi(operations, { clock, port: Number(new URL(url).port) }));
    await inTime(page, () => page.getByText('live', { exact: true }).isVisible());
    await inTime(page, () => page.getByRole('link', { name: '9 succeeded' }).isVisible());
    operations.breakWith(new Error('Redis is away'));
    await inTime(page, () => page.locator('.connection.away').isVisible());
    expect(await page.getByRole('link', { name: '9 succeeded' }).count()).toBe(1);
  });

  it('says in the banner alone that Redis does not answer, and reads every view when it is back', async () => {
    const { operations, url } = await servePage(worldRollouts, { isUnavailable: () => true }, 300, {
      audit: worldAudit,
      buildRecords: worldBuilds,
    });
    const page = ending(await browser.newPage());
    await page.clock.install();
    await page.goto(`${url}/#/activity`);
    const entries = page.locator('.activity tbody tr');
    await entries.first().waitFor();
    operations.breakWith(new Error('Redis is away'));
    await inTime(page, () => page.locator('.connection.away').isVisible());
    const words = 'Redis does not answer, so the state is unknown.';
    const countWords = async () => ((await page.locator('body').textContent()) ?? '').split(words).length - 1;
    let hasReadInVain = false;
    page.on('response', (response) => {
      hasReadInVain ||= response.url().includes('/audit') && !response.ok();
    });
    await inTime(page, async () => hasReadInVain);
    // The page's clock runs ahead of real answers, so a call may run into its deadline, which has other words.
    await inTime(page, async () => (await countWords()) === 1);
    expect(await entries.count()).toBeGreaterThan(0);
    for (const path of [
      'rollouts/none-20260302-1',
      `rollouts/${waiting}/collectors`,
      'collectors/2',
      'builds',
    ]) {
      await page.goto(`${url}/#/${path}`);
      await page.locator('main').getByText('This is shown once the page is live again.').waitFor();
      await expect.poll(countWords, { message: path }).toBe(1);
    }
    operations.recover();
    await inTime(page, () => page.locator('.connection.live').isVisible());
    await page.locator('.builds tbody tr').first().waitFor();
    expect(await countWords()).toBe(0);
  });

  it('knows how old its state is where pings have confirmed it since', async () => {
    const time = { at: Date.now() };
    const { api, url } = await servePage(worldRollouts, { clock: { now: () => time.at } });
    const page = await open(url);
    await page.getByText('2 rollouts need you.').waitFor();
    const stream = ending(await openStream(`${url}/api/v1/stream`));
    await stream.until('event: holds');
    const before = Date.now();
    time.at += 16_000;
    await stream.until(': ping');
    // Time for the page to read its own.
    await page.evaluate('0');
    await api.close();
    const instant = page.locator('.connection.away time');
    await instant.waitFor();
    expect(Date.parse((await instant.getAttribute('datetime')) ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('does not say that nothing needs a person before it has an answer, as when Redis is away (P16)', async () => {
    const { operations, url } = await servePage(worldRollouts);
    operations.breakWith(new Error('Redis is away'));
    const page = ending(await browser.newPage());
    await page.goto(url);
    await page.locator('.connection.away').waitFor();
    expect(await page.locator('main').textContent()).toContain('The page has no answer of the daemon yet.');
    expect(await page.locator('main').textContent()).not.toContain('Nothing needs you');
    expect(await page.locator('.connection').textContent()).not.toContain('This is the state of');
    expect(await page.locator('.connection').textContent()).toContain('No answer since');
  });

  it.each([390, 1440])(
    'has room for the banner where it was loaded while Redis is away: %d pixels',
    async (width) => {
      const { operations, url } = await servePage(worldRollouts, { isUnavailable: () => true });
      operations.breakWith(new Error('Redis is away'));
      const page = await open(url, { viewport: { width, height: 900 } });
      await page.locator('.connection.away').getByText('Check `redis` in the config').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    },
  );

  it('polls where a proxy blocks the stream', async () => {
    const { operations, url, status } = await openRollout();
    const page = ending(await browser.newPage());
    await page.clock.install();
    await page.route('**/api/v1/stream', (route) => route.fulfill({ status: 502, body: '{}' }));
    await page.goto(`${url}/#/rollouts/${status.id}`);
    await page.getByText('live', { exact: true }).waitFor();
    operations.rolloutStandsAt({ ...status, counts: countsOf({ succeeded: 8 }) });
    await inTime(page, () => page.getByRole('link', { name: '8 succeeded' }).isVisible());
  });

  it('asks for a token where one is set, keeps it for this tab, and reports a wrong one', async () => {
    const { url } = await servePage(worldRollouts, { token: 'open-sesame-1234' });
    const page = await open(url);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Show rollouts' }).click();
    await page.getByText('The token is wrong.').waitFor();
    await page.getByLabel('Token').fill('open-sesame-1234');
    await page.keyboard.press('Enter');
    await page.getByText('2 rollouts need you.').waitFor();
    await page.reload();
    await page.getByText('2 rollouts need you.').waitFor();
    await page.getByRole('button', { name: 'sign out' }).click();
    await page.getByLabel('Token').waitFor();
  });

  it('asks for the token again where a dialog is open, and returns to it with what was typed', async () => {
    const [old, fresh, third] = [
      'token-of-ann-0123456789',
      'other-of-ann-0123456789',
      'token-of-mia-0123456789',
    ];
    const as = (token: string, role: 'operator' | 'viewer' = 'operator') => ({
      ...{ token: undefined, trustedProxy: undefined, docs: 'token' as const },
      tokens: [{ name: role === 'viewer' ? 'mia' : 'ann', role, token }],
    });
    const { operations, url, api } = await servePage([aRolloutStatus()], as(old));
    const page = await open(`${url}/#/rollouts/${aRolloutStatus().id}`);
    const signIn = async (token: string) => {
      await page.getByLabel('Token').waitFor();
      // The field has the focus.
      await page.locator('input[type=password]:focus').waitFor();
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
    };
    await signIn(old);
    await page.getByText('ann · operator').waitFor();
    await page.getByRole('button', { name: 'abort' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('CHG-1042');
    await dialog.getByLabel('Type production').fill('production');
    api.replaceCallers(as(third, 'viewer'));
    await signIn('a-wrong-one');
    await page.getByText('The token is wrong.').waitFor();
    await signIn(third);
    await dialog.getByText('You are a viewer and may change nothing.').waitFor();
    expect(await dialog.getByRole('button', { name: 'abort' }).isDisabled()).toBe(true);
    api.replaceCallers(as(fresh));
    await signIn(fresh);
    await dialog.waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('CHG-1042');
    await dialog.getByRole('button', { name: 'abort' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(operations.requests).toMatchObject([{ verb: 'abort', by: 'ann', reason: 'CHG-1042' }]);
  });

  it('asks for the token as soon as a verb is refused for it, and repeats a preview after that', async () => {
    const token = 'token-of-ann-0123456789';
    const { operations, url } = await servePage([aRolloutStatus()], { token });
    const page = await open(`${url}/#/rollouts/${aRolloutStatus().id}`);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    // A proxy can end a session while the stream is open.
    await page.getByRole('button', { name: 'roll back' }).waitFor();
    await page.evaluate("sessionStorage.setItem('upwave.token', 'an-expired-one')");
    await page.getByRole('button', { name: 'roll back' }).click();
    await page.getByText('The token is wrong.').waitFor();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('19.456-3').waitFor();
    await dialog.getByLabel('Reason').fill('too slow');
    await dialog.getByLabel('Type production').fill('production');
    await dialog.getByRole('button', { name: 'roll back' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(operations.requests).toMatchObject([{ verb: 'rollback', reason: 'too slow' }]);
  });

  it('lets a dialog wait while the daemon is away', async () => {
    const { operations, api, page, url } = await openRollout();
    await page.getByRole('button', { name: 'pause' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('noisy');
    await api.close();
    await dialog.getByText('This can be sent once the page is live again.').waitFor();
    expect(await dialog.getByRole('button', { name: 'pause' }).isDisabled()).toBe(true);
    await page.keyboard.press('Enter');
    ending(await startFakeAdminApi(operations, { clock, port: Number(new URL(url).port) }));
    const send = dialog.getByRole('button', { name: 'pause' });
    await expect.poll(() => send.isEnabled()).toBe(true);
    expect(operations.requests).toEqual([]);
    await send.click();
    await expect.poll(() => operations.requests).toMatchObject([{ verb: 'pause', reason: 'noisy' }]);
  });

  it('shows a viewer everything but buttons that change something, and the role', async () => {
    const token = 'token-of-mia-0123456789';
    const { url } = await servePage(worldRollouts, { tokens: [{ name: 'mia', role: 'viewer', token }] });
    const page = await open(url);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('mia · viewer').waitFor();
    for (const path of ['', `rollouts/${waiting}`, `rollouts/${waiting}?do=approve`, 'collectors/2']) {
      await page.goto(`${url}/#/${path}`);
      await page.locator('.need').first().waitFor();
      const buttons = await page.getByRole('button').allTextContents();
      expect(buttons.filter((text) => !['sign out', 'Keys', 'HTML', 'Markdown'].includes(text))).toEqual([]);
    }
    await page.goto(`${url}/#/rollouts/${waiting}`);
    const command = page.locator('.verbs', { has: page.locator('code') });
    expect(await command.textContent()).toMatch(/^upwave hold /);
  });

  it('offers to hold the group that explains most failures before it offers to resume', async () => {
    const { operations, page } = await openRollout({
      ...{
        state: 'held',
        headline: { kind: 'held', needsPerson: true },
        verbs: ['resume', 'abort', 'retry'],
      },
      buildHold: { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: 0 },
      planned: 240,
      causes: [
        {
          ...{ of: 'failed', total: 7, others: { count: 0, causes: 0, unread: 0 } },
          causes: [aCause({ count: 7 })],
        },
      ],
      sharedAttribute: {
        attributes: [{ key: 'osName', value: 'Windows*' }],
        ...{ failed: 6, tried: 20, elsewhere: { failed: 1, tried: 90 }, share: 0.7 },
      },
    });
    await page.getByRole('button', { name: 'hold these 168' }).waitFor();
    const buttons = page.locator('.now .verbs').getByRole('button');
    expect((await buttons.allTextContents()).slice(0, 2)).toEqual([
      'hold osName=Windows* …',
      'release build 19.536-4 …',
    ]);
    const classes = await Promise.all((await buttons.all()).map((button) => button.getAttribute('class')));
    expect(classes.map((each) => each === 'primary')).toEqual(classes.map((_, index) => index === 0));
    await buttons.nth(1).click();
    await page.getByText('Most of its failures have osName=Windows*: hold that group first.').waitFor();
    await page.keyboard.press('Escape');
    await buttons.first().click();
    await page.getByText('Hold the 168 collectors with osName=Windows*').waitFor();
    await page.getByRole('dialog').getByLabel('Reason').fill('files in use');
    await page.getByRole('dialog').getByRole('button', { name: 'hold' }).click();
    await expect
      .poll(() => operations.holdRequests)
      .toMatchObject([{ did: 'hold', subject: 'osName=Windows*', reason: 'files in use' }]);
  });

  it('retries the failures of one cause', async () => {
    const text = 'permission denied: cannot write …';
    const { operations, page } = await openRollout({
      ...{ counts: countsOf({ failed: 9, timedOut: 2 }), verbs: ['retry'] },
      causes: [
        {
          ...{ of: 'failed', total: 11, others: { count: 0, causes: 0, unread: 0 } },
          causes: [aCause({ kind: 'failed', text, count: 9 })],
        },
      ],
    });
    await page.getByRole('button', { name: 'retry these 9: permission denied' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('rights are back');
    await page.getByRole('dialog').getByRole('button', { name: 'retry' }).click();
    await expect.poll(() => operations.requests).toMatchObject([{ verb: 'retry', failed: 11, cause: text }]);
  });

  it('searches 100,000 collectors, and draws only the visible ones', async () => {
    const { url } = await servePage(worldRollouts, {}, 100_000);
    const page = await open(`${url}/#/rollouts/${waiting}/collectors`);
    await page.getByText('100,000 collectors').waitFor();
    await page.mouse.wheel(0, 60_000);
    await expect
      .poll(() => page.locator('.collectors tbody tr').first().getAttribute('aria-rowindex'))
      .not.toBe('2');
    expect(await page.locator('.collectors tbody tr').count()).toBeLessThan(80);
    await page.getByLabel('Search').fill('web-99999');
    await page.getByText('1 collector', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'web-99999.example.com' }).waitFor();
    expect(page.url()).toContain('match=web-99999');
  });

  it('shows at each state by whom, why and when, and links a rollback with its rollout in every list', async () => {
    const at = Date.UTC(2026, 10, 21, 21, 15);
    const [id, backId, endedId] = ['web-20261121-1', 'web-20261121-2', 'web-20261120-1'];
    const back = { kind: 'rollback', backTo: ['19.441-2'], reason: 'rolls back' } as const;
    const rollouts = [
      aRolloutStatus({ id: backId, policy: 'web', ...back, rollbackOf: id, state: 'paused' }),
      aRolloutStatus({ id, policy: 'web', state: 'rollingBack', rollbackId: backId }),
      aRolloutStatus({
        ...{ id: endedId, policy: 'web', ...back, rollbackOf: 'web-20261119-9' },
        ...{ state: 'aborted', endedAt: at },
      }),
    ];
    const deed = { at, by: 'alice', reason: 'CHG-1042' };
    const audit = [
      { ...deed, event: 'rollout.paused', subject: backId },
      { ...deed, at: at - 60_000, by: 'bob', event: 'rollout.approved', subject: `${backId} wave canary` },
      { ...deed, event: 'rollout.aborted', subject: endedId },
    ] as const;
    const held = { event: 'rollout.held', by: 'daemon', reason: 'too many' } as const;
    const events = [aRolloutEvent({ at: at + 60_000, ...held })];
    const { url } = await servePage(rollouts, {}, 1, { audit, events });
    const page = await open(url, { timezoneId: 'UTC' });
    const textOf = (selector: string, hasText: string) =>
      expect.poll(() => page.locator(selector, { hasText }).first().textContent());
    await textOf('.policy .deed', 'paused').toMatch(/^paused\s+by alice, CHG-1042, .*21:15 UTC$/);
    await textOf('.policy .target', 'rollback of').toMatch(
      new RegExp(`^back to 19.441-2\\s+rollback of ${id}$`),
    );
    await textOf('.policy .target', 'rolled back by').toContain(backId);
    await textOf('.ended li', endedId).toMatch(
      /rollback of web-20261119-9 ?rollback aborted\s+by alice, CHG-1042, .*21:15 UTC.*back to 19\.441-2/,
    );
    await page.locator('.policy .related a', { hasText: backId }).click();
    await textOf('.title', 'rollback of').toContain(id);
    // The daemon acted after the last person.
    await textOf('.now .deed', 'held').toMatch(/^held\s+by daemon,\s+(?:\w+ \d+ )?21:16 UTC$/);
    await page.locator('.title .related a').click();
    await textOf('.title', 'rolled back by').toContain(backId);
  });

  it('shows who did what over all rollouts, and keeps the filter in the link', async () => {
    const page = await open((await servePage(worldRollouts, {}, 300, { audit: worldAudit })).url);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByText('4 actions').waitFor();
    const link = page.getByRole('link', { name: 'collector 2 web-2' });
    expect(await link.getAttribute('href')).toBe('#/collectors/2');
    await page.getByLabel('Who').selectOption('alice');
    await page.getByText('2 actions').waitFor();
    await page.getByLabel('Search').fill('CHG-1042');
    await page.getByText('1 action', { exact: true }).waitFor();
    const row = page.locator('.activity tbody tr');
    expect(await row.textContent()).toMatch(/alice.*rollout\.aborted.*production-20260302-1.*CHG-1042/);
    expect(await row.locator('time').textContent()).toMatch(/\d\d:\d\d:\d\d/);
    expect(page.url()).toContain('#/activity?who=alice&match=CHG-1042');
    await page.reload();
    await page.getByText('1 action', { exact: true }).waitFor();
    await row.getByRole('link').click();
    await expect.poll(() => page.url()).toContain('#/rollouts/production-20260302-1');
    await page.goBack();
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Who').selectOption('');
    await page.getByLabel('Policy').selectOption('production');
    // The hold of a collector belongs to no policy.
    await page.getByText('2 actions').waitFor();
  });

  it('shows the stratum of a collector, and leads to the held group that it belongs to', async () => {
    const explained = {
      kind: 'explained',
      ...{ collectorId: 2, collectorName: 'web-2', build: '19.441-2', history: [] },
      ...{ seen: null, attributes: [], explanations: [anExplanation({ heldGroup: 'fields.rack=r7' })] },
    } as const;
    const { url } = await servePage(worldRollouts, {}, 300, { explanations: { '2': explained } });
    const page = await open(`${url}/#/collectors/2`);
    const link = page.getByText('held group fields.rack=r7').getByRole('link');
    expect(await link.getAttribute('href')).toContain('/collectors?attributes=fields.rack%3Dr7');
    expect(await page.locator('main').textContent()).toContain('Linux / amd64');
  });

  it('shows what builds did, the newest first, and says where there is nothing', async () => {
    const { url } = await servePage(worldRollouts, {}, 300, { buildRecords: worldBuilds });
    const page = await open(url);
    await page.getByRole('link', { name: 'Builds', exact: true }).click();
    const rows = page.locator('.builds tbody tr');
    await rows.first().waitFor();
    expect(page.url()).toContain('#/builds');
    await page.getByText('Of ended rollouts. A running rollout is added when it ends.').waitFor();
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/^19\.536-4 4,21018 \(0\.4%\)1.*Windows Server 2016: 12 of 28Linux: 6 of 4,182$/),
      expect.stringMatching(/^19\.525-63 901/),
    ]);
    const empty = await open((await servePage(worldRollouts)).url);
    await empty.getByRole('link', { name: 'Builds', exact: true }).click();
    await empty.getByText('No rollout with upgrades has ended yet.').waitFor();
  });

  it('can be used with the keyboard alone: a dialog takes the focus and returns it', async () => {
    const { operations, page } = await openRollout();
    const button = page.getByRole('button', { name: 'pause' });
    // A person types once the dialog is there.
    const typeReason = async () => {
      await page.keyboard.press('Enter');
      await page.locator('dialog :focus').waitFor();
      await page.keyboard.type('by keys');
    };
    await button.focus();
    await typeReason();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.locator(':focus').textContent()).toBe('pause');
    await typeReason();
    await page.keyboard.press('Enter');
    await expect.poll(() => operations.requests).toMatchObject([{ verb: 'pause', reason: 'by keys' }]);
  });

  it('takes at most 150 kB over the wire, and sends requests only to its own daemon', async () => {
    const { url } = await servePage([running ?? aRolloutStatus()]);
    const page = ending(await browser.newPage());
    const hosts = new Set<string>();
    page.on('request', (request) =>
      hosts.add(new URL(request.url()).protocol === 'data:' ? url : new URL(request.url()).origin),
    );
    const loaded: Promise<number>[] = [];
    page.on('response', (response) => {
      if (/\/(assets\/.*)?$/.test(response.url()))
        loaded.push(
          response.finished().then(async () => (await response.request().sizes()).responseBodySize),
        );
    });
    await page.goto(url);
    await page.locator('.policy').first().waitFor();
    const sizes = await Promise.all(loaded);
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(150_000);
    expect([...hosts]).toEqual([url]);
  });
});
