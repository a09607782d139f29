import { makeCollectorClient } from './collector-client.ts';
import { makeRetryingClient, type RetryingClientParts } from './retrying-client.ts';
import { makeSearchJobClient } from './search-job-client.ts';
import { makeSourceClient } from './source-client.ts';
import { makeUpgradeClient } from './upgrade-client.ts';

/**
 * The typed client of the whole Collector Management API. Failures are data: `refused` and `notFound` have the
 * documented code, if the service sent one under any of its names (collector-api.md §7). A request that the service may
 * have acted on is not repeated: a write whose response was lost ends as `unavailable` with `sent: true`.
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
