import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminApiParts } from '../../src/admin-api/admin-api.ts';
import { ending } from '../support/ending.ts';
import { makeFakeOperations } from '../support/fake-operations.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, takePicture } from '../support/page/browser.ts';
import { startFakeAdminApi } from '../support/start-fake-admin-api.ts';

if (!hasBrowser)
  process.stdout.write('no /usr/bin/chromium: the tests of the guides in a browser are skipped\n');

const token = 'correct-horse-battery-staple';

describe.skipIf(!hasBrowser)('the guides in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  const serve = async (parts: Partial<AdminApiParts> = {}) =>
    ending(
      await startFakeAdminApi(makeFakeOperations({ rollouts: [] }), { clock: { now: Date.now }, ...parts }),
    ).url;
  const open = async (url: string, options: Parameters<Browser['newPage']>[0] = {}) => {
    const page = ending(await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options }));
    page.on('pageerror', (error) => expect.unreachable(`an error on the page: ${error.stack}`));
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML/i.test(message.text())) expect.unreachable(message.text());
    });
    await page.goto(url);
    return page;
  };
  const isInView =
    'document.getElementById("UpwaveNoProgress")?.getBoundingClientRect().top < innerHeight / 2';

  it('ask for the token once, show what the address names, and keep the token for the page and further guides', async () => {
    const url = await serve({ token });
    const page = await open(`${url}/docs/alerts#UpwaveNoProgress`);
    await page.fill('#token', 'wrong-horse-battery-staple');
    await page.click('text=Show the guide');
    await expect.poll(() => page.textContent('#why')).toBe('the token is wrong');
    await page.fill('#token', token);
    await page.click('text=Show the guide');
    await expect.poll(() => page.textContent('h1')).toBe('Alerts');
    expect(await page.title()).toBe('Alerts · upwave 0.1.0');
    expect(await page.evaluate(isInView)).toBe(true);
    await page.click('nav >> text=Metrics');
    await expect.poll(() => page.textContent('h1')).toBe('Metrics');
    await page.click('.name >> text=upwave');
    await expect.poll(() => page.textContent('.lead')).toBe('Nothing needs you.');
    await page.click('text=guides');
    await expect.poll(() => page.textContent('h1')).toBe('Guides');
  });

  it('find sections by words, and go to the first with Enter', async () => {
    const page = await open(`${await serve()}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('no progr');
    await expect.poll(() => page.locator('#found a').first().textContent()).toContain('UpwaveNoProgress');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('/docs/alerts#UpwaveNoProgress');
    await page.fill('#search', 'zebra crossing');
    await expect.poll(() => page.textContent('#found')).toBe('nothing found');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('are accessible and as wide as the screen: %s, %i pixels', async (colorScheme, width) => {
    const url = await serve();
    // The longest ones differ from the others in length only, so that one theme shows their widths.
    const long = colorScheme === 'light' ? ['/alerts', '/config-reference'] : [];
    for (const guide of ['', '/size-it', ...long]) {
      const page = await open(`${url}/docs${guide}`, { colorScheme, viewport: { width, height: 844 } });
      expect(await accessibilityFaults(page), guide).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), guide).toBe(width);
      expect(await page.locator('details.menu[open]').count(), guide).toBe(
        width > 1000 && guide !== '' ? 1 : 0,
      );
      if (guide === '/size-it') await takePicture(page, `docs-${guide.slice(1)}-${colorScheme}-${width}`);
    }
  });
});
