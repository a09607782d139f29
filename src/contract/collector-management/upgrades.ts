import { z } from 'zod';
import { defineOperation, pageQuery } from '../operation.ts';
import { Collector } from './collectors.ts';
import { createUpgradeCodes } from './errors.ts';
import { serviceLimits } from './limits.ts';

/** An opaque id that may be a number or numeric text (collector-api.md §2.3). It becomes a string. */
const OpaqueId = z.union([z.string().min(1), z.number().int()]).transform(String);

/** The known values of a task's status (collector-api.md §3). Other values are ignored (P13). */
export const taskStatus = {
  notStarted: 0,
  pending: 1,
  succeeded: 2,
  failed: 3,
  progressing: 6,
} as const;

/**
 * An upgrade task's status (collector-api.md §2.3). The request time has one of two names. Only the id and the status
 * matter, so any other invalid value counts as absent (P13).
 */
const UpgradeTask = z
  .looseObject({
    id: OpaqueId,
    collectorId: z.number().int().optional().catch(undefined),
    toVersion: z.string().nullish().catch(undefined),
    requestTime: z.number().nullish().catch(undefined),
    requestedTime: z.number().nullish().catch(undefined),
    status: z.number().int(),
    message: z.string().nullish().catch(undefined),
  })
  .meta({ id: 'UpgradeTask' });

/** An available build (collector-api.md §2.4). */
export const UpgradeTarget = z
  .looseObject({ version: z.string(), latest: z.boolean().nullish().catch(undefined) })
  .meta({ id: 'UpgradeTarget' });
export type UpgradeTarget = z.infer<typeof UpgradeTarget>;

/**
 * The body that creates an upgrade or downgrade task. Without `toVersion`, or with an empty one, the target is the latest
 * build.
 */
export const CreateUpgrade = z.looseObject({
  collectorId: z.number().int(),
  toVersion: z.string().optional(),
});
export type CreateUpgrade = z.infer<typeof CreateUpgrade>;

/** The response to a create: the task's id, and its status path, which is not used. */
const CreatedUpgrade = z.looseObject({
  id: OpaqueId,
  link: z.looseObject({ rel: z.string(), href: z.string() }).nullish().catch(undefined),
});

export const listUpgradableCollectors = defineOperation({
  name: 'listUpgradableCollectors',
  summary: 'List collectors that can be upgraded',
  route: 'GET /collectors/upgrades/collectors',
  query: z.object({
    toVersion: z.string().optional(),
    ...pageQuery(serviceLimits.upgradablePageSizeDefault),
  }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  source: 'collector-api.md §4.3',
});

export const listUpgradeTargets = defineOperation({
  name: 'listUpgradeTargets',
  summary: 'List the available builds',
  route: 'GET /collectors/upgrades/targets',
  answer: { status: 200, body: z.looseObject({ targets: z.array(UpgradeTarget) }) },
  source: 'collector-api.md §4.3',
});

export const getUpgradeTask = defineOperation({
  name: 'getUpgradeTask',
  summary: 'Get the status of an upgrade task',
  route: 'GET /collectors/upgrades/{upgradeTaskId}',
  params: z.object({ upgradeTaskId: z.string().min(1) }),
  answer: { status: 200, body: z.looseObject({ upgrade: UpgradeTask }) },
  source: 'collector-api.md §4.3',
});

/** Not idempotent: sent twice it may create two tasks, so after a lost response the collector is polled first (P1). */
export const createUpgradeTask = defineOperation({
  name: 'createUpgradeTask',
  summary: 'Create an upgrade task',
  route: 'POST /collectors/upgrades',
  body: CreateUpgrade,
  answer: { status: 202, body: CreatedUpgrade },
  errors: createUpgradeCodes,
  source: 'collector-api.md §4.3, §7.5',
});
