import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import type { DurationMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { failedStates } from '../../rollout/model/upgrade.ts';
import type { Offer } from './value-kinds.ts';

const typedLengthMin = 3;
// The daemon refuses longer searches.
const typedLengthMax = 500;
const offersMax = 50;
// The daemon reads 5,000 collectors of a plan in 0.2 s, so that all 100,000 would take longer than a person waits for a key.
const searchMs: DurationMs = 500;

/**
 * Collectors of the current rollouts whose name or id begins with what was typed: failed ones first, then as many as are found
 * in time. Fewer than three letters select too many.
 */
export async function readCollectors(
  client: Pick<AdminClient, 'listRollouts' | 'searchUpgrades'>,
  typed: string,
): Promise<readonly Offer[]> {
  const begin = typed.toLowerCase();
  if (begin.length < typedLengthMin || begin.length > typedLengthMax) return [];
  const stopAt = performance.now() + searchMs;
  const found = new Map<string, Offer>();
  const search = async ({ id }: RolloutStatus, state: typeof failedStates | undefined) => {
    let after: string | null | undefined;
    while (after !== null && found.size < offersMax && performance.now() < stopAt) {
      const query = { match: typed, limit: offersMax, state: state && [...state], after };
      const { collectors, next } = await client.searchUpgrades(id, query);
      for (const { collectorId, collectorName } of collectors) {
        const offers = [
          { name: collectorName, help: '' },
          { name: String(collectorId), help: collectorName },
        ];
        for (const offer of offers)
          if (offer.name.toLowerCase().startsWith(begin)) found.set(offer.name, offer);
      }
      after = next;
    }
  };
  const rollouts = await client.listRollouts();
  const runningFirst = [...rollouts].sort((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null));
  for (const state of [failedStates, undefined])
    for (const rollout of runningFirst) await search(rollout, state);
  return [...found.values()].slice(0, offersMax);
}
