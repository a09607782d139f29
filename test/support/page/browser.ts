import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** Debian's; where it is missing the tests of the page are skipped. */
const executablePath = '/usr/bin/chromium';
export const hasBrowser = existsSync(executablePath);

/** Screenshots of the page from the tests, for a person to review. */
const pictures = new URL('../../artefacts/page/', import.meta.url);

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export async function takePicture(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: new URL(`${name}.png`, pictures).pathname, fullPage: true });
}

/** Looks at a page at several widths: nothing is wider than the screen. Takes a picture of each. */
export async function fitScreens(page: Page, widths: readonly number[], nameOf: (width: number) => string) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(tooWide, `at ${width} pixels`).toBeLessThanOrEqual(0);
    await takePicture(page, nameOf(width));
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Accessibility faults that axe finds: the rule and the element. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: Axe };
    const { violations } = await tool.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

interface Axe {
  run(): Promise<{
    readonly violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>;
  }>;
}
