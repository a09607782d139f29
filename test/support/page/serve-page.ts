import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import type { AdminApiParts } from '../../../src/admin-api/admin-api.ts';
import type { StartPreview } from '../../../src/contract/admin/policies.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { startedAt } from '../builders.ts';
import { ending } from '../ending.ts';
import { anExplanation, makeFakeOperations } from '../fake-operations.ts';
import { startFakeAdminApi } from '../start-fake-admin-api.ts';
import { manyUpgrades, worldCourse, worldEvents, worldGroups } from './page-world.ts';

/** The page compares instants with the clock of its browser. */
export const pageClock = { now: Date.now };

export const startPreview: StartPreview = {
  ...{ policy: 'production', planHash: '7f3a', targetBuild: '19.455-2', planned: 12, approval: false },
  waves: [{ name: 'rest', size: 12, soakMs: 0 }],
  earlier: {
    ...{ rollout: 'production-20260302-1', state: 'aborted', reason: 'by alice: CHG-9' },
    at: Date.UTC(2026, 2, 2),
  },
  concurrency: 50,
  estimate: { durationMs: 7_980_000, plusMinusMs: 1_800_000, requests: 1_200 },
  failedBefore: 0,
  expectedFailures: null,
  leftOut: [{ kind: 'excluded', reason: 'runs on a Mac', count: 3 }],
  window: { isOpen: true, until: null, reason: '' },
};
const agreed = { kind: 'agreed', others: 0 } as const;
const scan = { lastScan: null, lastGoodAt: null, nextScanAt: null, config: agreed };

/** The page of a daemon with these rollouts, each of so many collectors. */
export async function servePage(
  rollouts: readonly RolloutStatus[],
  parts: Partial<AdminApiParts> = {},
  count = 300,
  data: Partial<Parameters<typeof makeFakeOperations>[0]> = {},
) {
  const operations = makeFakeOperations({
    rollouts,
    ...{ course: worldCourse, events: worldEvents, groups: worldGroups, upgrades: manyUpgrades(count) },
    policies: { policies: [{ policy: 'production', ...scan }], orphans: [] },
    preview: { kind: 'planned', preview: startPreview },
    explanations: {
      '2': {
        ...{ kind: 'explained', collectorId: 2, collectorName: 'web-2', build: '19.441-2', history: [] },
        seen: { hostName: 'web-2.example.com', alive: true, lastSeenAt: startedAt },
        attributes: [
          { key: 'osName', value: 'Windows Server 2016' },
          { key: 'fields.rack', value: 'r7' },
        ],
        explanations: [anExplanation({ reason: 'all 50 slots are taken', state: 'pending' })],
      },
    },
    holdResults: { '2': { kind: 'done', subject: { kind: 'collector', collectorId: 2, name: 'web-2' } } },
    ...data,
  });
  const api = ending(await startFakeAdminApi(operations, { clock: pageClock, ...parts }));
  return { operations, url: api.url, api };
}

export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
) {
  const page = ending(await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options }));
  page.on('pageerror', (error) => expect.unreachable(`an error on the page: ${error.stack}`));
  await page.goto(url);
  return page;
}
