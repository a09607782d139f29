import type { Collector } from '../../contract/collector-management/collectors.ts';
import {
  pageUpgradableCollectors,
  pageUpgradeTargets,
} from '../../contract/collector-management/listed-rows.ts';
import type { CreateUpgrade } from '../../contract/collector-management/upgrades.ts';
import { createUpgradeTask, getUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import { bodyOf, type RetryingClient } from './retrying-client.ts';

/**
 * The service's upgrade operations one by one (collector-api.md §4.3), for scripts and people. Rollouts go through the
 * port of the loops instead, which knows intents, holds and the classes of the budget.
 */
export function makeUpgradeClient(client: RetryingClient) {
  return {
    /** Every collector that the service would upgrade to this build now; to the latest where left out. */
    listUpgradable: (toVersion?: string, signal?: AbortSignal): Promise<Answer<readonly Collector[]>> =>
      client.readAll((page) => {
        const query = toVersion === undefined ? page : { toVersion, ...page };
        return client.callOnce(pageUpgradableCollectors, { query }, { signal });
      }, signal),

    listTargets: async (signal?: AbortSignal) =>
      client.rowsOf(await client.call(pageUpgradeTargets, {}, { signal })),

    async getTask(upgradeTaskId: string, signal?: AbortSignal) {
      const answer = await client.call(getUpgradeTask, { params: { upgradeTaskId } }, { signal });
      return mapAnswer(answer, ({ body }) => body.upgrade);
    },

    /** A lost answer is a failure with `sent: true`: poll the collector before a second one is sent (P1). */
    async createTask(body: CreateUpgrade, signal?: AbortSignal) {
      return bodyOf(await client.call(createUpgradeTask, { body }, { signal }));
    },
  };
}
