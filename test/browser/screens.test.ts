import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityFaults, fitScreens, hasBrowser, launchBrowser } from '../support/page/browser.ts';
import { waiting, worldAudit, worldBuilds, worldCourse, worldRollouts } from '../support/page/page-world.ts';
import { openPage, servePage } from '../support/page/serve-page.ts';
import { aCause } from '../support/status-parts.ts';

/** What is shown: its path, what is there once it is whole, and what a person does first. */
interface Screen {
  readonly name: string;
  readonly path: string;
  readonly awaited: string;
  readonly opens?: (page: Page) => Promise<void>;
}

const chooses = (menu: string) => async (page: Page) => {
  const box = page.getByRole('checkbox', { name: /^choose web/ }).first();
  await box.check();
  await page.getByText(menu, { exact: true }).first().click();
};

const screens: readonly Screen[] = [
  { name: 'overview', path: '', awaited: '.need' },
  { name: 'rollout', path: `rollouts/${waiting}`, awaited: '.night' },
  { name: 'collectors', path: `rollouts/${waiting}/collectors`, awaited: '.collectors tbody tr' },
  ...['Columns', 'Saved filters'].map((menu) => ({
    name: `collectors-${menu.split(' ')[0]}`,
    path: `rollouts/${waiting}/collectors?sort=-state`,
    awaited: '.collectors tbody tr',
    opens: chooses(menu),
  })),
  { name: 'collector', path: 'collectors/2', awaited: '.need' },
  { name: 'activity', path: 'activity', awaited: '.activity tbody tr' },
  { name: 'builds', path: 'builds', awaited: '.builds tbody tr' },
  { name: 'palette', path: '', awaited: '.policy', opens: (page) => page.keyboard.press('Control+k') },
];

describe.skipIf(!hasBrowser)('the page fits a phone, and axe finds no accessibility fault', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it.each(['light', 'dark'] as const)('in %s', async (colorScheme) => {
    const { url } = await servePage(worldRollouts, {}, 300, { audit: worldAudit, buildRecords: worldBuilds });
    for (const { name, path, awaited, opens } of screens) {
      const page = await openPage(browser, `${url}/#/${path}`, { colorScheme });
      await page.locator('main h2').first().waitFor();
      await page.locator(awaited).first().waitFor();
      await opens?.(page);
      expect(await accessibilityFaults(page), name).toEqual([]);
      await fitScreens(page, [1440, 1280, 390], (width) => `${name}-${width}-${colorScheme}`);
      await page.close();
    }
  });

  it.each([
    { width: 1440, height: 900, heightMax: 2 * 900 },
    { width: 390, height: 844, heightMax: 3_000 },
  ])(
    'shows 92 strata and many causes on few screens of $width pixels',
    async ({ heightMax, ...viewport }) => {
      const strata = Array.from({ length: 92 }, (_, index) => ({
        ...{ size: 405, succeeded: 60, failed: index % 7, active: 0, waiting: 300, isHeld: false },
        label: `Windows Server 20${index} / amd64 / 19.525-63`,
      }));
      const course = { ...worldCourse, strata, strataTotal: 92 };
      const causes = Array.from({ length: 5 }, (_, index) =>
        aCause({ text: `error ${index}: there is not enough disk space`, count: 5 }),
      );
      const others = { count: 2, causes: 2, unread: 0 };
      const rollouts = worldRollouts.map((each) => ({
        ...each,
        causes: [
          { of: 'failed' as const, total: 27, causes, others },
          { of: 'retrying' as const, total: 12, causes: causes.slice(0, 2), others },
        ],
        leftOut: [{ kind: 'excluded' as const, reason: 'excluded', count: 2_271 }],
      }));
      const { url } = await servePage(rollouts, {}, 300, { course });
      const page = await openPage(browser, `${url}/#/rollouts/${waiting}`, { viewport });
      await page.getByText(/^8\d more strata/).waitFor();
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(heightMax);
      await fitScreens(page, [viewport.width], (width) => `strata-${width}`);
      // Green would say that all is well.
      expect(await page.locator('.heat .heat-0').count()).toBe(0);
      await page.getByText('3 more causes of 15 collectors').click();
      await page.getByText('error 4: there is not enough disk space').first().waitFor();
    },
  );
});
