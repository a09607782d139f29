import { isSameBuild } from '../../base/build-version.ts';
import { seeCollector } from '../../contract/collector-management/seen-collector.ts';
import type { Answer, FleetService } from '../../orchestrator/ports/fleet-service.ts';
import type { CollectorObservation } from '../../rollout/upgrade/facts.ts';
import type { ServiceClient } from '../wire/service-client.ts';
import { makeSafeText } from './fleet-reading.ts';
import type { Upgradable, UpgradableReadings } from './upgradable-readings.ts';

type Poll = Parameters<FleetService['pollCollector']>[0];
type Offer = Pick<CollectorObservation, 'upgradable' | 'offeredAt' | 'isBuildRefused'>;

/** Polls one collector and, if requested, whether the service would upgrade it now. */
export async function pollCollector(
  { client, readings }: { readonly client: ServiceClient; readonly readings: UpgradableReadings },
  poll: Poll,
  signal: AbortSignal | undefined,
): ReturnType<FleetService['pollCollector']> {
  const budgetClass = poll.urgent ? 'verify' : 'poll';
  const params = { id: poll.collectorId };
  const answer = await client.call(seeCollector, { params }, { budgetClass, signal });
  if (!answer.ok) return withGoneCollector(answer);
  const { collector } = answer.value.body;
  const observation = {
    build: makeSafeText(client, 'values')(collector.collectorVersion ?? ''),
    alive: collector.alive ?? false,
    lastSeenAlive: collector.lastSeenAlive ?? null,
    serviceAt: answer.value.serviceAt,
  };
  const { upgradableTo } = poll;
  if (upgradableTo === null) return { ok: true, value: { ...observation, upgradable: null } };
  // The list leaves out offline collectors and those on the build, so neither needs it.
  const isListed = collector.alive !== false && !isSameBuild(observation.build, upgradableTo);
  const offer = isListed ? await readOffer(readings, { ...poll, upgradableTo }, signal) : notOffered;
  return offer.ok ? { ok: true, value: { ...observation, ...offer.value } } : offer;
}

const notOffered = { ok: true, value: { upgradable: false } } as const;

async function readOffer(
  readings: UpgradableReadings,
  { collectorId, upgradableTo, urgent, listedSince }: Poll & { readonly upgradableTo: string },
  signal: AbortSignal | undefined,
): Promise<Answer<Offer>> {
  const listed =
    listedSince === undefined ? undefined : readings.shown(collectorId, upgradableTo, listedSince);
  if (listed !== undefined) return { ok: true, value: offerOf(listed) };
  const upgradable = await readings.ask({ toBuild: upgradableTo, isUrgent: urgent }, signal);
  if (upgradable.ok)
    return upgradable.value.ids.has(collectorId)
      ? { ok: true, value: offerOf(upgradable.value) }
      : notOffered;
  const { failure } = upgradable;
  // 400 means an invalid parameter (collector-api.md §4.3). Only the build can be invalid: it is no longer offered.
  return failure.kind === 'refused' && failure.status === 400
    ? { ok: true, value: { upgradable: false, isBuildRefused: true } }
    : upgradable;
}

function offerOf({ offeredAt }: Upgradable): Offer {
  return { upgradable: true, ...(offeredAt === null ? {} : { offeredAt }) };
}

/**
 * Treats this code as 404, because it means "no such collector". The status that comes with it is not documented
 * (collector-api.md §7.4).
 */
export function withGoneCollector<T>(
  answer: Answer<T> & { readonly ok: false },
): Answer<never> & { ok: false } {
  const { failure } = answer;
  if (failure.kind !== 'refused' || failure.code !== 'InvalidCollector') return answer;
  return { ok: false, failure: { kind: 'notFound', detail: failure.detail } };
}
