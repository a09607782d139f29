import type { DaemonNote } from '../../src/orchestrator/ports/event-sink.ts';
import type { Answer, FleetService } from '../../src/orchestrator/ports/fleet-service.ts';
import { makeMemoryFleetRegister } from '../../src/rehearsal/store/memory-fleet-register.ts';
import {
  type MemoryRolloutStore,
  makeMemoryRolloutStore,
} from '../../src/rehearsal/store/memory-rollout-store.ts';
import type { FleetSnapshot } from '../../src/rollout/model/collector.ts';
import type { RolloutEvent } from '../../src/rollout/model/events.ts';
import type { PlanGroups } from '../../src/rollout/model/plan-groups.ts';
import type { Rollout } from '../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../src/rollout/model/upgrade.ts';
import type { CollectorObservation } from '../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../src/rollout/upgrade/failure-classes.ts';
import { aFleetService } from './builders/service-builders.ts';
import {
  anApiBudgetStatus,
  anUpgrade,
  aRollout,
  because,
  changedRollout,
  type RolloutChanges,
  someGroups,
  startedAt,
  targetBuild,
} from './builders.ts';
import { lossless } from './lossless.ts';
import { quietParts } from './quiet-parts.ts';
import { makeMemoryScanBook } from './store/memory-scan-book.ts';
import { findUpgrade } from './store/store-changes.ts';

interface Furnishing {
  /** Frozen in the store; null: no rollout is. */
  readonly rollout?: Rollout | null;
  readonly upgrades?: readonly Upgrade[];
  readonly groups?: PlanGroups;
  /** What the service answers; nothing else can be read. */
  readonly fleet?: Partial<FleetService>;
}

/** The parts of loops and operations, in memory: a store with one rollout, a service, and a clock that the test advances. */
export async function aHouse({ rollout = aRollout(), upgrades = [], groups, fleet }: Furnishing = {}) {
  const clock = { at: startedAt, now: () => clock.at };
  const store = makeMemoryRolloutStore(clock.now);
  const register = makeMemoryFleetRegister();
  if (rollout !== null) await freeze(store, rollout, upgrades, groups);
  const reported: RolloutEvent['event'][] = [];
  const notes: DaemonNote[] = [];
  const { id, policy } = rollout ?? aRollout();
  const sink = {
    report: ({ event }: Pick<RolloutEvent, 'event'>) => void reported.push(event),
    note: (note: DaemonNote) => void notes.push(note),
  };
  const parts = {
    ...quietParts,
    // Its own: a test may change what is found.
    sharedAttributes: { ...quietParts.sharedAttributes },
    ...{ clock, store, register, sink },
    fleet: aFleetService(fleet),
    scans: makeMemoryScanBook(),
    rollouts: () => [policy],
    forecast: (_policy: string, _count: number): readonly number[] => [],
    memory: { check: async () => 'store', stoppedRollout: () => undefined },
    queue: { deliver: async () => undefined, bringForward: async () => undefined },
    readApiBudgetStatus: async () => anApiBudgetStatus(),
  };
  return {
    ...{ parts, store, register, clock, reported, notes },
    /** The rollout as it is in the store now. */
    now: async () => lossless(await store.loadRollout(id)),
    upgrade: async (collectorId = 1) => lossless(await findUpgrade(store, collectorId, id)),
    stateOf: async (collectorId: number) => (await findUpgrade(store, collectorId, id))?.progress.state,
  };
}

export async function freeze(
  store: MemoryRolloutStore,
  rollout: Rollout,
  upgrades: readonly Upgrade[] = [],
  groups = someGroups(),
): Promise<void> {
  await store.freeze({ rollout, upgrades, groups, events: [] });
}

/** The next revision of a rollout, as it is saved by whoever changed it. */
export async function save(
  store: MemoryRolloutStore,
  rollout: Rollout,
  changes: RolloutChanges,
  fence: number | null = null,
) {
  const next = { ...changedRollout(rollout, changes), rev: rollout.rev + 1 };
  return store.saveRollout({ rollout: next, expectedRev: rollout.rev, events: [], brake: 'set' }, fence);
}

type End = 'succeeded' | 'rolledBack' | 'withdrawn' | 'failed';

/** A progress that has ended without a weight, for a reason that does not matter. */
export function over<State extends End>(state: State, words = '') {
  return { state, endedAt: startedAt, reason: because(words), weight: 0, lost: false } as const;
}

/** Ones alike, with ids and places from 1 on. */
export function upgradesLike(count: number, progress: Upgrade['progress'], rolloutId = aRollout().id) {
  return Array.from({ length: count }, (_, index) =>
    anUpgrade(progress, { rolloutId, collectorId: index + 1, order: index + 1 }),
  );
}

export function answering<T>(value: T): () => Promise<{ readonly ok: true; readonly value: T }> {
  return async () => ({ ok: true, value });
}

export function failing(failure: ServiceFailure): () => Promise<Answer<never>> {
  return async () => ({ ok: false, failure });
}

/** No answer, although the request was sent. */
export const away: ServiceFailure = { kind: 'unavailable', sent: true, detail: 'HTTP 503' };

/** The builds on offer, the last one as the latest. */
export function offering(...versions: readonly string[]): FleetService['listBuilds'] {
  return answering(versions.map((version) => ({ version, latest: version === versions.at(-1) })));
}

/** A service that offers the target build, and shows these collectors. */
export function serving(snapshot: () => FleetSnapshot): Partial<FleetService> {
  return {
    listBuilds: offering(targetBuild),
    readFleet: async () => ({ ok: true, value: snapshot() }),
  };
}

/** What a poll of a collector shows: alive on the target build. */
export function aSighting(changes: Partial<CollectorObservation> = {}): CollectorObservation {
  return {
    build: targetBuild,
    alive: true,
    lastSeenAlive: startedAt,
    serviceAt: startedAt,
    upgradable: null,
    ...changes,
  };
}
