import type { Config } from '../../../src/config/config.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import { upgradeText } from '../../../src/rollout/messages/upgrade-reasons.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';

/** Tasks created by this collector's own upgrade, by the service's record. */
export function createsOf(record: RecordSnapshot): ReadonlyMap<number, number> {
  return new Map(Object.entries(record.createsPerCollector).map(([id, count]) => [Number(id), count]));
}

/** Collectors with more than one task, which never occur in a night without failures. */
export function createdTwice(record: RecordSnapshot): readonly number[] {
  return [...createsOf(record)].flatMap(([id, count]) => (count > 1 ? [id] : []));
}

/** The promises that a night broke, by the service's own record. */
export function brokenPromises(
  night: { readonly config: Pick<Config, 'service'>; record(): RecordSnapshot },
  status: RolloutStatus,
  upgrades: readonly Upgrade[],
): readonly string[] {
  const record = night.record();
  const { needlessCreates, refusedCreates, tasksInFlightMax, throttled, requestsInOneSecondMax } = record;
  const planned = new Set(upgrades.map(({ identity: { collectorId } }) => collectorId));
  const strangers = [...createsOf(record).keys()].filter((id) => !planned.has(id));
  const total = Object.values(status.counts).reduce((sum, count) => sum + count, 0);
  const ended = upgrades.filter((upgrade) => 'endedAt' in upgrade.progress);
  const rules: ReadonlyArray<readonly [kept: boolean, otherwise: string]> = [
    [needlessCreates === 0, `P1: ${needlessCreates} creates for a build that ran already`],
    [
      refusedCreates['collector.in.upgrading'] === undefined,
      'P1: a create for a collector that was in an upgrade',
    ],
    [doubled(record).length === 0, `P1: two tasks at once on ${doubled(record).join(', ')}`],
    [tasksInFlightMax <= status.concurrency, `P2: ${tasksInFlightMax} tasks at once`],
    [strangers.length === 0, `P5: creates outside the plan, for ${strangers.join(', ')}`],
    [
      requestsInOneSecondMax <= (night.config.service?.requestsPerSecond ?? 0),
      `P8: ${requestsInOneSecondMax} requests in one second`,
    ],
    [throttled.rate + throttled.concurrency === 0, `P8: answers 429, ${JSON.stringify(throttled)}`],
    [total === upgrades.length && total === status.planned, `P9: ${total} of ${upgrades.length} in a state`],
    [status.endedAt === null || ended.length === total, `P9: ${ended.length} of ${total} have an end`],
    [ended.every((upgrade) => upgradeText(upgrade) !== ''), 'P9: an end without a reason'],
  ];
  return rules.flatMap(([kept, otherwise]) => (kept ? [] : [otherwise]));
}

/** Collectors of which a task began before the one before it had ended. */
function doubled({ creates }: RecordSnapshot): readonly number[] {
  const endsAt = new Map<number, number>();
  return creates.flatMap((create) => {
    const before = endsAt.get(create.collectorId);
    endsAt.set(create.collectorId, create.endsAt);
    return before !== undefined && create.at < before ? [create.collectorId] : [];
  });
}
