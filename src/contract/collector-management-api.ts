import { z } from 'zod';
import { Collector } from './collector.ts';
import { defineOperation, integerText } from './operation.ts';
import { createUpgradeCodes } from './service-errors.ts';
import { serviceLimits } from './service-limits.ts';
import { CreatedUpgrade, CreateUpgrade, UpgradeTarget, UpgradeTask } from './upgrade-task.ts';

const page = (defaultLimit: number) => ({
  limit: integerText({ min: 1 }).default(defaultLimit),
  offset: integerText({ min: 0 }).default(0),
});
const collectorPage = page(serviceLimits.collectorPageSizeDefault);
const upgradablePage = page(serviceLimits.upgradablePageSizeDefault);

/** Paths are relative to `{base_url}/v1` (collector-api.md, head). */
export const versionPath = '/v1';

export const listCollectors = defineOperation({
  name: 'listCollectors',
  method: 'GET',
  path: '/collectors',
  query: z.object({ filter: z.enum(['installed', 'hosted', 'dead', 'alive']).optional(), ...collectorPage }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  idempotent: true,
  source: 'collector-api.md §4.1',
});

export const listOfflineCollectors = defineOperation({
  name: 'listOfflineCollectors',
  method: 'GET',
  path: '/collectors/offline',
  query: z.object({
    aliveBeforeDays: integerText({ min: 1 }).default(serviceLimits.aliveBeforeDaysDefault),
    ...collectorPage,
  }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  idempotent: true,
  source: 'collector-api.md §4.1',
});

export const getCollector = defineOperation({
  name: 'getCollector',
  method: 'GET',
  path: '/collectors/{id}',
  params: z.object({ id: integerText() }),
  answer: { status: 200, body: z.looseObject({ collector: Collector }) },
  errors: ['InvalidCollector'],
  idempotent: true,
  source: 'collector-api.md §4.1',
});

export const getCollectorByName = defineOperation({
  name: 'getCollectorByName',
  method: 'GET',
  path: '/collectors/name/{name}',
  params: z.object({ name: z.string() }),
  answer: { status: 200, body: z.looseObject({ collector: Collector }) },
  errors: ['InvalidCollector'],
  idempotent: true,
  source: 'collector-api.md §4.1',
});

export const listUpgradableCollectors = defineOperation({
  name: 'listUpgradableCollectors',
  method: 'GET',
  path: '/collectors/upgrades/collectors',
  query: z.object({ toVersion: z.string().optional(), ...upgradablePage }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  idempotent: true,
  source: 'collector-api.md §4.3',
});

export const listUpgradeTargets = defineOperation({
  name: 'listUpgradeTargets',
  method: 'GET',
  path: '/collectors/upgrades/targets',
  answer: { status: 200, body: z.looseObject({ targets: z.array(UpgradeTarget) }) },
  idempotent: true,
  source: 'collector-api.md §4.3',
});

export const getUpgradeTask = defineOperation({
  name: 'getUpgradeTask',
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
  method: 'POST',
  path: '/collectors/upgrades',
  body: CreateUpgrade,
  answer: { status: 202, body: CreatedUpgrade },
  errors: createUpgradeCodes,
  idempotent: false,
  source: 'collector-api.md §4.3, §7.5',
});

/** Every operation we speak, in the order in which a server must match them: fixed paths before `{id}`. */
export const collectorManagementApi = [
  listCollectors,
  listOfflineCollectors,
  listUpgradableCollectors,
  listUpgradeTargets,
  getUpgradeTask,
  createUpgradeTask,
  getCollectorByName,
  getCollector,
] as const;
