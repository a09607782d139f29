import { z } from 'zod';
import { Collector } from './collector.ts';
import { defineOperation, pageQuery } from './operation.ts';
import { createUpgradeCodes } from './service-errors.ts';
import { serviceLimits } from './service-limits.ts';
import { CreatedUpgrade, CreateUpgrade, UpgradeTarget, UpgradeTask } from './upgrade-task.ts';

export const listUpgradableCollectors = defineOperation({
  name: 'listUpgradableCollectors',
  summary: 'List collectors that can be upgraded',
  method: 'GET',
  path: '/collectors/upgrades/collectors',
  query: z.object({
    toVersion: z.string().optional(),
    ...pageQuery(serviceLimits.upgradablePageSizeDefault),
  }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  idempotent: true,
  source: 'collector-api.md §4.3',
});

export const listUpgradeTargets = defineOperation({
  name: 'listUpgradeTargets',
  summary: 'List the builds on offer',
  method: 'GET',
  path: '/collectors/upgrades/targets',
  answer: { status: 200, body: z.looseObject({ targets: z.array(UpgradeTarget) }) },
  idempotent: true,
  source: 'collector-api.md §4.3',
});

export const getUpgradeTask = defineOperation({
  name: 'getUpgradeTask',
  summary: 'Get the status of an upgrade task',
  method: 'GET',
  path: '/collectors/upgrades/{upgradeTaskId}',
  params: z.object({ upgradeTaskId: z.string().min(1) }),
  answer: { status: 200, body: z.looseObject({ upgrade: UpgradeTask }) },
  idempotent: true,
  source: 'collector-api.md §4.3',
});

/** Not idempotent: sent twice it may make two tasks, so an answer that got lost is settled by looking (P1). */
export const createUpgradeTask = defineOperation({
  name: 'createUpgradeTask',
  summary: 'Create an upgrade task',
  method: 'POST',
  path: '/collectors/upgrades',
  body: CreateUpgrade,
  answer: { status: 202, body: CreatedUpgrade },
  errors: createUpgradeCodes,
  idempotent: false,
  source: 'collector-api.md §4.3, §7.5',
});
