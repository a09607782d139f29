import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../src/contract/admin/rollout-status.ts';
import { hasBrowser, launchBrowser } from '../support/page/browser.ts';
import { differenceOf, keepLayout, keptLayout, type Layout, layoutOf } from '../support/page/layout.ts';
import { paced, waiting, worldAudit, worldBuilds, worldRollouts } from '../support/page/page-world.ts';
import { openPage, servePage } from '../support/page/serve-page.ts';

// A share of squares. Other letters change one in fifty, a column that wraps one in five.
const differenceMax = 0.08;

// `KEEP_LAYOUTS=1 npm run test:browser` keeps what is shown now, after somebody has looked at the pictures in `artefacts/`.
const keeps = process.env['KEEP_LAYOUTS'] === '1';

// What is below it are rows like those above. Ground without anything would hide differences.
const heightOf = (width: number) => (width < 500 ? 2_400 : 1_600);

const held = worldRollouts.find(({ state }) => state === 'held')?.id ?? '';
const collectors = 10_500;

/** A view by its path, and what is there once it is whole. */
const views: Readonly<Record<string, { readonly path: string; readonly awaited: string }>> = {
  overview: { path: '', awaited: '.policy' },
  rollout: { path: `rollouts/${waiting}`, awaited: '.night' },
  held: { path: `rollouts/${held}`, awaited: '.night' },
  paced: { path: `rollouts/${paced}`, awaited: '.night' },
  collectors: { path: `rollouts/${waiting}/collectors`, awaited: '.collectors tbody tr' },
  collector: { path: 'collectors/2', awaited: 'main h2' },
  activity: { path: 'activity', awaited: '.activity tbody tr' },
  builds: { path: 'builds', awaited: '.builds tbody tr' },
};

/** What a view reads comes piece by piece, so it is whole once nothing moves any more. */
async function settledLayout(page: Page): Promise<Layout> {
  let before = await layoutOf(page);
  await expect
    .poll(
      async () => {
        const now = await layoutOf(page);
        const difference = differenceOf(now, before);
        before = now;
        return difference;
      },
      { interval: 200, timeout: 20_000 },
    )
    .toBeLessThan(movedMax);
  return before;
}

// A clock that goes on changes less.
const movedMax = 0.005;

describe.skipIf(!hasBrowser)('what the page shows stands where it stood', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  const serve = (rollouts: readonly RolloutStatus[]) =>
    servePage(rollouts, {}, collectors, { audit: worldAudit, buildRecords: worldBuilds });
  const open = (url: string, width: number, colorScheme: 'light' | 'dark' = 'light') =>
    openPage(browser, url, { viewport: { width, height: heightOf(width) }, colorScheme });
  const judge = async (page: Page, name: string): Promise<void> => {
    const layout = await settledLayout(page);
    if (keeps) keepLayout(name, layout);
    const kept = keptLayout(name);
    expect(kept, `no layout is kept for ${name}`).toBeDefined();
    if (kept !== undefined) expect.soft(differenceOf(layout, kept), name).toBeLessThan(differenceMax);
  };

  it.each([
    { width: 1440, colorScheme: 'light' },
    { width: 1440, colorScheme: 'dark' },
    { width: 1024, colorScheme: 'light' },
    { width: 1024, colorScheme: 'dark' },
    { width: 390, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ] as const)('at $width pixels, $colorScheme', async ({ width, colorScheme }) => {
    const { url } = await serve(worldRollouts);
    const page = await open(url, width, colorScheme);
    for (const [name, { path, awaited }] of Object.entries(views)) {
      await page.goto(`${url}/#/${path}`);
      await page.locator(awaited).first().waitFor();
      await judge(page, `${name}-${width}-${colorScheme}`);
    }
  });

  it('without a rollout, and without the daemon', async () => {
    const page = await open((await serve([])).url, 1440);
    await page.locator('main h2').first().waitFor();
    await judge(page, 'empty');
    const served = await serve(worldRollouts);
    await page.goto(served.url);
    await page.locator('.policy').first().waitFor();
    await settledLayout(page);
    await served.api.close();
    await page.locator('.stale').waitFor();
    await judge(page, 'away');
  });

  it('sees a style that breaks a layout', async () => {
    const { url } = await serve(worldRollouts);
    const page = await open(`${url}/#/rollouts/${waiting}`, 1440);
    await page.locator('.night').first().waitFor();
    const whole = await settledLayout(page);
    await page.evaluate("document.querySelector('main').style.width = '50%'");
    expect(differenceOf(await layoutOf(page), whole)).toBeGreaterThan(differenceMax);
  });
});
