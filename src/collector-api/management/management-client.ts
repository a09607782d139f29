import { makeCollectorClient } from './collector-client.ts';
import { makeRetryingClient, type RetryingClientParts } from './retrying-client.ts';
import { makeSearchJobClient } from './search-job-client.ts';
import { makeSourceClient } from './source-client.ts';
import { makeUpgradeClient } from './upgrade-client.ts';

/**
 * The whole Collector Management API, typed. Failures are data: `refused` and `notFound` carry the documented code where
 * the service gave one, whichever of its names it used (collector-api.md §7). Nothing that may have been acted on is
 * sent again by itself: a write whose answer was lost ends as `unavailable` with `sent: true`.
 */
export type ManagementClient = ReturnType<typeof makeManagementClient>;

export function makeManagementClient(parts: RetryingClientParts) {
  const client = makeRetryingClient(parts);
  return {
    collectors: makeCollectorClient(client),
    sources: makeSourceClient(client),
    upgrades: makeUpgradeClient(client),
    searchJobs: makeSearchJobClient(client),
  };
}
