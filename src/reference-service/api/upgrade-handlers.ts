import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { OperationHandlers } from '../../http/operation-handlers.ts';
import { taskStatusAt } from '../fleet/task-script.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import type { Callers } from './callers.ts';
import { listAnswer } from './collector-handlers.ts';
import type { ServiceRecord } from './service-record.ts';

/** The upgrade operations (collector-api.md §4.3). */
export function makeUpgradeHandlers(callers: Callers, record: () => Pick<ServiceRecord, 'created'>) {
  return {
    async listUpgradableCollectors({ query }, request) {
      const caller = callers.of(request);
      const { world } = caller.account;
      return listAnswer(world.upgradableTo(world.targetVersion(query.toVersion)), query, caller);
    },
    async listUpgradeTargets(_input, request) {
      const { world } = callers.of(request).account;
      const now = world.now();
      const latest = world.builds.latest(now);
      const targets = world.builds.offered(now).map((version) => ({ version, latest: version === latest }));
      return { body: { targets } };
    },
    async getUpgradeTask({ params }, request) {
      const { world } = callers.of(request).account;
      const now = world.now();
      const task = world.task(params.upgradeTaskId);
      if (task === undefined) throw new RefusedRequest(404, 'notfound', 'there is no such upgrade task');
      const { collectorId, toVersion, requestedAt, script } = task;
      return {
        body: {
          upgrade: {
            id: Number(task.id),
            collectorId,
            toVersion,
            requestTime: requestedAt,
            status: taskStatusAt(script, now),
            message: now >= script.endsAt ? script.message : '',
          },
        },
      };
    },
    async createUpgradeTask({ body }, request) {
      const { world } = callers.of(request).account;
      const task = world.createTask({ collectorId: body.collectorId, toVersion: body.toVersion, by: 'api' });
      record().created(task);
      return { body: { id: task.id, link: { rel: 'self', href: `/v1/collectors/upgrades/${task.id}` } } };
    },
  } satisfies Partial<OperationHandlers<typeof collectorManagementApi>>;
}
