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
 * The service's upgrade operations (collector-api.md §4.3), for scripts and people. Rollouts use the port of the loops
 * instead, which respects intents, holds and budget classes.
 */
export function makeUpgradeClient(client: RetryingClient) {
  return {
    /** Lists the collectors that the service would upgrade to this build now. Default: the latest build. */
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

    /**
     * Creates an upgrade task. A lost response is a failure with `sent: true`: poll the collector before sending a
     * second create (P1).
     */
    async createTask(body: CreateUpgrade, signal?: AbortSignal) {
      return bodyOf(await client.call(createUpgradeTask, { body }, { signal }));
    },
  };
}
