import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HoldResult } from '../../src/orchestrator/operations/operations.ts';
import { because } from '../support/builders.ts';
import { aRolloutStatus, countsOf } from '../support/fake-operations.ts';
import { hasBrowser, launchBrowser, takePicture } from '../support/page/browser.ts';
import { waiting, worldRollouts } from '../support/page/page-world.ts';
import { openPage, servePage } from '../support/page/serve-page.ts';
import { anEndedOne } from '../support/upgrade-cases.ts';

const heldOne = (collectorId: number): HoldResult => ({
  kind: 'done',
  subject: { kind: 'collector', collectorId, name: `web-${collectorId}.example.com` },
});

describe.skipIf(!hasBrowser)('the list of collectors in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  const path = `#/rollouts/${waiting}/collectors`;
  const openList = async (
    query = '',
    ...more: [Parameters<typeof servePage>[1]?, number?, Parameters<typeof servePage>[3]?]
  ) => {
    const served = await servePage(worldRollouts, ...more);
    const page = await openPage(browser, `${served.url}/${path}${query}`);
    await page.locator('.collectors tbody tr').first().waitFor();
    return { ...served, page };
  };
  const columnOf = (page: Page, name: string) =>
    page.locator(`.collectors tbody tr:not(:nth-child(n + 6)) ${name}`).allTextContents();
  const names = (page: Page) => columnOf(page, 'th a');
  const heading = (page: Page, name: string) => page.getByRole('columnheader', { name });

  it('sorts all collectors by a heading, upwards, downwards, and not', async () => {
    const { page } = await openList('', {}, 10_500);
    await page.getByText('10,500 collectors').waitFor();
    const started = Date.now();
    await heading(page, 'Collector').getByRole('button').click();
    await heading(page, 'Collector').getByRole('button').click();
    await expect.poll(() => names(page)).toContain('web-10500.example.com');
    expect(Date.now() - started).toBeLessThan(15_000);
    expect(await names(page)).toEqual(
      [10_500, 10_499, 10_498, 10_497, 10_496].map((n) => `web-${n}.example.com`),
    );
    expect(await heading(page, 'Collector').getAttribute('aria-sort')).toBe('descending');
    expect(page.url()).toContain('sort=-name');
    await page.reload();
    await expect.poll(() => names(page)).toContain('web-10499.example.com');
    await heading(page, 'Collector').getByRole('button').click();
    await expect.poll(() => names(page)).toContain('web-1.example.com');
    expect(page.url()).not.toContain('sort');
  });

  it('sorts instants as instants, those without one last', async () => {
    const { page } = await openList('?state=failed&sort=when');
    // The world's later collectors failed earlier.
    await expect.poll(() => names(page)).toEqual([202, 102, 2].map((n) => `web-${n}.example.com`));
  });

  it('shows the chosen columns, also after a reload', async () => {
    const { page } = await openList();
    await page.getByText('Columns', { exact: true }).first().click();
    await page.getByLabel('Stratum', { exact: true }).nth(1).uncheck();
    await page.getByLabel('From', { exact: true }).check();
    for (const _ of ['before', 'after a reload']) {
      await expect
        .poll(() => page.locator('.collectors thead th').allTextContents())
        .toEqual([...['Collector', 'State', 'Wave', 'Reason', 'Attempts', 'From', 'Ended or due']]);
      expect(await columnOf(page, 'td.fromBuild')).toContain('19.441-2');
      await page.reload();
      await page.locator('.collectors tbody tr').first().waitFor();
    }
  });

  it('shows a reason whole on a phone, over the width of the row', async () => {
    const reason = because(
      'attempt 3 of 3: unable to remove file /opt/collector/lib/agent.jar, which a process of this machine still uses',
    );
    const failed = anEndedOne('failed', { endedAt: 1, reason }, { collectorName: 'web-1' });
    const { url } = await servePage(worldRollouts, {}, 1, { upgrades: [failed] });
    const viewport = { width: 390, height: 844 };
    const page = await openPage(browser, `${url}/${path}`, { viewport });
    const cell = page.locator('.collectors td.reason');
    await cell.waitFor();
    const sizes = await page.evaluate<Readonly<Record<'cut' | 'hidden' | 'width' | 'height', number>>>(`
      const td = document.querySelector('.collectors td.reason');
      const hiddenIn = ({ scrollHeight, clientHeight }) => scrollHeight - clientHeight;
      ({ cut: hiddenIn(td.children[0]), hidden: hiddenIn(td.parentNode), width: td.clientWidth, height: td.clientHeight })`);
    expect(sizes).toMatchObject({ cut: 0, hidden: 0 });
    expect(sizes.width).toBeGreaterThan(300);
    // Three lines.
    expect(sizes.height).toBeGreaterThan(45);
    await takePicture(page, 'collectors-reason-390');
  });

  it('keeps a filter by name for every rollout, until it is deleted', async () => {
    const { page, url } = await openList('?state=failed&sort=-name');
    await page.getByText('Saved filters').click();
    await page.getByLabel('Name of this filter').fill('broken ones');
    await page.getByRole('button', { name: 'save' }).click();
    await page.goto(`${url}/#/rollouts/lab-20261122-1/collectors`);
    await page.reload();
    await page.getByText('Saved filters').click();
    await page.getByRole('link', { name: 'broken ones' }).click();
    await expect.poll(() => page.url()).toContain('lab-20261122-1/collectors?state=failed&sort=-name');
    await page.getByRole('button', { name: 'delete the filter broken ones' }).click();
    expect(await page.getByRole('link', { name: 'broken ones' }).count()).toBe(0);
  });

  it('holds many with the keyboard, says where it stopped, and continues with the rest', async () => {
    const results: Record<string, HoldResult> = { '1': heldOne(1), '2': heldOne(2) };
    const { operations, page } = await openList('', {}, 300, { holdResults: results });
    for (const id of [1, 2, 3]) {
      await page.getByRole('checkbox', { name: `choose web-${id}.example.com` }).focus();
      await page.keyboard.press('Space');
    }
    await page.getByRole('button', { name: 'hold 3' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('web-1.example.com, web-2.example.com, web-3.example.com').waitFor();
    await dialog.getByLabel('Reason').fill('CHG-1042');
    await dialog.getByRole('button', { name: 'hold 3' }).click();
    await dialog.getByText('2 of 3 are done. Send again to continue.').waitFor();
    results['3'] = heldOne(3);
    await dialog.getByRole('button', { name: 'hold 3' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(operations.holdRequests.map(({ subject }) => subject)).toEqual(['1', '2', '3', '3']);
    expect(await page.locator('.chosen').count()).toBe(0);
  });

  it('releases what is held, and holds the others', async () => {
    const at = { reason: 'noisy', by: 'bob', at: Date.now() };
    const { operations, page } = await openList('', {}, 300, {
      held: {
        builds: [],
        groups: [],
        strata: [],
        collectors: [{ collectorId: 2, name: 'web-2.example.com', ...at }],
      },
      holdResults: { '2': heldOne(2) },
    });
    const row = page.getByRole('row', { name: 'web-2.example.com' });
    await row.getByText('held').waitFor();
    await page.getByRole('checkbox', { name: 'choose web-1.example.com' }).check();
    await page.getByRole('checkbox', { name: 'choose web-2.example.com' }).check();
    await page.getByRole('button', { name: 'hold 1' }).waitFor();
    await page.getByRole('button', { name: 'release 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'release 1' }).click();
    await expect.poll(() => operations.holdRequests).toMatchObject([{ did: 'release', subject: '2' }]);
  });

  it('retries only the failed ones that are chosen', async () => {
    const { operations, page } = await openList();
    await page.getByRole('checkbox', { name: 'choose the 200 that are read' }).check();
    await page.getByText('200 chosen').waitFor();
    await page.getByRole('checkbox', { name: 'choose web-102.example.com' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'retry 2 failed' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('rights are back');
    await page.getByRole('dialog').getByRole('button', { name: 'retry 2 failed' }).click();
    await expect
      .poll(() => operations.requests)
      .toMatchObject([{ verb: 'retry', failed: 11, collectorIds: [2, 102], reason: 'rights are back' }]);
  });

  it('forgets the choice when the filter changes, so that nothing unseen is held', async () => {
    const { page } = await openList();
    await page.getByRole('checkbox', { name: 'choose web-1.example.com' }).check();
    await page.getByText('1 chosen').waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
    await page.locator('.chosen').waitFor({ state: 'detached' });
  });

  it('leads from a collector back to the rollout, also after a reload', async () => {
    const { page } = await openList();
    await page.locator('.collectors tbody th a').first().click();
    await page.reload();
    const crumbs = page.getByRole('navigation', { name: 'Where you are' });
    await crumbs.getByRole('link', { name: waiting }).click();
    await expect.poll(() => page.url()).toMatch(new RegExp(`#/rollouts/${waiting}$`));
  });

  it('lets a viewer choose columns and sort, but no collectors', async () => {
    const token = 'token-of-mia-0123456789';
    const { url } = await servePage([aRolloutStatus({ id: waiting, counts: countsOf({ failed: 2 }) })], {
      tokens: [{ name: 'mia', role: 'viewer', token }],
    });
    const page = await openPage(browser, `${url}/${path}`);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('.collectors tbody tr').first().waitFor();
    expect(await page.locator('.collectors input').count()).toBe(0);
  });
});
