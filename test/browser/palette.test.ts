import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aRolloutStatus } from '../support/fake-operations.ts';
import { accessibilityFaults, hasBrowser, launchBrowser } from '../support/page/browser.ts';
import { waiting, worldRollouts } from '../support/page/page-world.ts';
import { openPage, servePage } from '../support/page/serve-page.ts';

describe.skipIf(!hasBrowser)('the palette and the keys of the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  const openOverview = async (options: Parameters<typeof openPage>[2] = {}) => {
    const served = await servePage(worldRollouts);
    const page = await openPage(browser, served.url, options);
    await page.locator('.policy').first().waitFor();
    return { ...served, page };
  };
  const choices = (page: Page) => page.locator('.palette li').allTextContents();

  it('goes to what is typed, by the keyboard alone', async () => {
    const { page } = await openOverview();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('failed lab');
    await expect
      .poll(() => choices(page))
      .toEqual([
        ...[
          'failed collectors of lab-20261122-1',
          'retry 0 failed: lab-20261122-1',
          'show collector failed lab',
        ],
      ]);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/rollouts/lab-20261122-1/collectors?state=failed');
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('eb-27');
    await expect
      .poll(async () => (await choices(page)).slice(0, 2))
      .toEqual(['collector web-27.example.com', 'collector web-270.example.com']);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/collectors/27');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing-7');
    await expect
      .poll(async () => (await choices(page)).slice(0, 2))
      .toEqual(['show collector nothing-7', 'search nothing-7 in collectors of edge-20261122-1']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/rollouts/edge-20261122-1/collectors?match=nothing-7');
  });

  it('goes from row to row with j and k', async () => {
    const { page } = await openOverview();
    const focused = () => page.locator(':focus').textContent();
    await page.keyboard.press('j');
    expect(await focused()).toBe('lab');
    await page.keyboard.press('j');
    expect(await focused()).toBe('production');
    await page.keyboard.press('k');
    expect(await focused()).toBe('lab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/rollouts/lab-');
  });

  it('opens the dialog of a verb, and sends nothing before that is confirmed', async () => {
    const { operations, page, url } = await openOverview();
    await page.goto(`${url}/#/rollouts/${waiting}`);
    await page.locator('article.rollout').waitFor();
    await page.keyboard.press('Control+k');
    await expect.poll(async () => (await choices(page))[0]).toBe(`approve wave rest: ${waiting}`);
    await page.keyboard.type('pause production');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: `Pause: ${waiting}` }).waitFor();
    expect(operations.requests).toEqual([]);
    await page.keyboard.type('noisy');
    await page.keyboard.press('Enter');
    await expect.poll(() => operations.requests).toMatchObject([{ verb: 'pause', reason: 'noisy' }]);
  });

  it('offers no verbs to a viewer', async () => {
    const token = 'token-of-mia-0123456789';
    const rollout = aRolloutStatus();
    const { url } = await servePage([rollout], { tokens: [{ name: 'mia', role: 'viewer', token }] });
    const page = await openPage(browser, url);
    await page.locator('input[type=password]:focus').waitFor();
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByText('mia · viewer').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(rollout.id);
    await expect.poll(async () => (await choices(page)).length).toBeGreaterThan(2);
    expect((await choices(page)).filter((words) => /pause|abort|roll back/.test(words))).toEqual([]);
  });

  it('has keys for views and searches, which do not disturb a person who types', async () => {
    const { page, url } = await openOverview();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await expect.poll(() => page.url()).toContain('#/activity');
    await page.locator('main input[type=search]').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('g p ? /');
    expect(await page.locator('main input[type=search]').inputValue()).toBe('g p ? /');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(page.url()).toContain('#/activity');
    await page.goto(`${url}/#/`);
    await page.locator('.policy').first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await expect.poll(() => page.url()).toContain('#/builds');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('go to the activity').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // Speech input sends single keys.
    await dialog.getByLabel('single keys').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
  });

  it('shows zones and thousands', async () => {
    const { page } = await openOverview({ timezoneId: 'Asia/Kolkata' });
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).toContain('180 / 1,215');
    expect(text).toMatch(/Done(Nov|\w+) \d+ \d\d:\d\d GMT\+5:30/);
  });
});
