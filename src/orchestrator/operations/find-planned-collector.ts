import { nearestNames, parseCollectorId } from '../../base/names.ts';
import type { Clock } from '../../base/time.ts';
import type { CollectorHold } from '../../contract/admin/holds.ts';
import type { Outage } from '../../contract/admin/rollout-status.ts';
import { unansweredText, unaskedText } from '../../rollout/messages/explanations.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { outageWaitMaxMs, type ReadApiBudgetStatus } from '../ports/api-budget.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';

/** What finds a collector in the plans of running rollouts. */
export interface FindPlannedParts {
  readonly store: Pick<
    RolloutStore,
    'findNamed' | 'loadUpgrades' | 'activeRolloutIds' | 'currentRollouts' | 'listUpgrades'
  >;
  readonly claims: PolicyClaims;
}

/** What asks the service for a collector. */
export interface AskForCollectorParts {
  readonly fleet: Pick<FleetService, 'findCollector'>;
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  readonly clock: Clock;
}

/** Size of a page for a search of the plan's names: a few hundred KB. */
const pageSize = 1_000;

/**
 * Finds a collector in the running rollouts by its id or exact name; its upgrade back if it is being rolled back. An operator who holds a collector must not have to wait
 * for a service that is down.
 */
export async function findPlannedCollector(
  parts: FindPlannedParts,
  idOrName: string,
): Promise<Upgrade | undefined> {
  const id = parseCollectorId(idOrName);
  const find = async (rolloutId: string) =>
    id === undefined
      ? parts.store.findNamed(rolloutId, idOrName.trim())
      : // A collector with an unreadable record is looked up at the service instead.
        (await parts.store.loadUpgrades(rolloutId, [id])).upgrades;
  const rolloutIds = await parts.store.activeRolloutIds(await parts.claims.names());
  const found = (await Promise.all(rolloutIds.map(find))).flat();
  const policyOf = ({ identity: { rolloutId } }: Upgrade) => parseRolloutId(rolloutId).policy;
  const [first] = found;
  // The rollback of a policy follows its rollout.
  return first && found.findLast((upgrade) => policyOf(upgrade) === policyOf(first));
}

/** Finds a held collector by its id or exact name. */
export async function findHeld(
  { register }: { readonly register: Pick<FleetRegister, 'holds'> },
  idOrName: string,
): Promise<CollectorHold | undefined> {
  const id = parseCollectorId(idOrName);
  const { collectors } = await register.holds();
  return collectors.find(({ collectorId, name }) => collectorId === id || name === idOrName.trim());
}

/** Names of planned collectors that may be meant. It reads all plans, which takes 1 s for 100,000 collectors. */
export async function namesNear(parts: FindPlannedParts, text: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { id } of await parts.store.currentRollouts(await parts.claims.names())) {
    for (let offset = 0; ; offset += pageSize) {
      const page = await parts.store.listUpgrades(id, { offset, limit: pageSize });
      if (page.length === 0) break;
      names.push(...page.map(({ identity: { collectorName } }) => collectorName));
    }
  }
  return nearestNames(text, names);
}

export type Asked =
  | { readonly kind: 'found'; readonly collector: FleetCollector }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable'; readonly reason: string };

// A person waits for the answer.
export const answerWithinMs = 5_000;

/** Looks a collector up at the service, unless an outage lasts longer than a person would wait. */
export async function askForCollector(parts: AskForCollectorParts, idOrName: string): Promise<Asked> {
  const outage = await findLongOutage(parts);
  if (outage !== undefined) return { kind: 'unavailable', reason: unaskedText(outage.reason) };
  const answer = await parts.fleet.findCollector(idOrName, AbortSignal.timeout(answerWithinMs));
  // A refusal is an answer: no collector can have this name.
  if (!answer.ok && answer.failure.kind === 'refused') return { kind: 'none' };
  if (!answer.ok) {
    const { failure } = answer;
    // Cancelled by the limit above.
    const reason = failure.kind === 'cancelled' ? unansweredText(answerWithinMs) : describeFailure(failure);
    return { kind: 'unavailable', reason };
  }
  return answer.value === undefined ? { kind: 'none' } : { kind: 'found', collector: answer.value };
}

/** An outage that lasts longer than a person would wait; undefined without one. */
export async function findLongOutage(
  parts: Pick<AskForCollectorParts, 'readApiBudgetStatus' | 'clock'>,
): Promise<Outage | undefined> {
  const { outage } = await parts.readApiBudgetStatus();
  const isLong = outage !== null && (outage.until ?? 0) > parts.clock.now() + outageWaitMaxMs;
  return isLong ? outage : undefined;
}
