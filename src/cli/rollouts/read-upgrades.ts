import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import type { UpgradeBody } from '../../contract/admin/rollout-status.ts';

const pageMax = 1_000;

type Search = Parameters<AdminClient['searchUpgrades']>[1];

/** Reads the upgrades of a rollout page by page: the size of an answer does not grow with the fleet. */
export async function readUpgrades(
  client: Pick<AdminClient, 'searchUpgrades'>,
  rolloutId: string,
  { limit = Number.POSITIVE_INFINITY, ...filter }: Search = {},
) {
  const collectors: UpgradeBody[] = [];
  let after: string | undefined;
  // The loop ends, because each page starts where the previous one ended.
  for (;;) {
    const search = { ...filter, limit: Math.min(pageMax, limit - collectors.length), after };
    const { collectors: found, next, total } = await client.searchUpgrades(rolloutId, search);
    collectors.push(...found);
    if (next === null || collectors.length >= limit) return { collectors, total, more: next !== null };
    after = next;
  }
}
