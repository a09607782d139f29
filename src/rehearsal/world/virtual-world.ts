import type { Clock, EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { SimulatedCollector } from '../../reference-service/fleet/simulated-collector.ts';
import type { TaskScript } from '../../reference-service/fleet/task-script.ts';
import type { AcceptedUpgrade } from '../../reference-service/fleet/upgrade-tasks.ts';
import { World } from '../../reference-service/fleet/world.ts';
import { parseScenario } from '../../reference-service/scenario/scenario.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Fate, FateOf } from './fates.ts';

const receivedForMs = 5_000;

/**
 * The reference service's world with the fleet that is rehearsed. Fates take the place of the scenario's chances. Only the
 * target build breaks collectors: any other is a build that the collector ran before.
 * @param parts `creates`: counts the tasks for the target build by collector
 */
export function makeVirtualWorld(parts: {
  readonly snapshot: FleetSnapshot;
  /** The builds that the service offers, and that collectors may return to. */
  readonly builds: readonly string[];
  readonly targetBuild: string;
  readonly fateOf: FateOf;
  /** When collectors that are down are up, by id. Default: never. */
  readonly upAt?: ReadonlyMap<number, EpochMs>;
  readonly clock: Clock;
  readonly creates: Map<number, number>;
}): World {
  const { snapshot, targetBuild, fateOf, clock, creates, upAt } = parts;
  const { collectors } = snapshot;
  const builds = new Set([...parts.builds, targetBuild]);
  const fateOfTask = ({ facts: { id }, toVersion }: AcceptedUpgrade): Fate => {
    if (toVersion !== targetBuild) return { ...fateOf(id, 1), ends: { kind: 'succeeded' } };
    const attempt = (creates.get(id) ?? 0) + 1;
    creates.set(id, attempt);
    return fateOf(id, attempt);
  };
  return new World({
    clock,
    scenario: parseScenario({
      fleet: { size: collectors.length },
      builds: [...builds].map((version) => ({ version, latest: version === targetBuild })),
    }),
    drawCollector: (index, now) => {
      const collector = collectors[index];
      if (collector === undefined) throw new Error('no further collector is rehearsed');
      return simulated(collector, now, upAt?.get(collector.id));
    },
    drawScript: (accepted) => scriptOf(fateOfTask(accepted), accepted),
  });
}

function simulated(collector: FleetCollector, now: EpochMs, upAt: EpochMs | undefined): SimulatedCollector {
  const { id, name, build: version, alive, lastSeenAlive = now } = collector;
  const lastHeartbeatAt = Math.min(lastSeenAlive, now - serviceLimits.deadAfterMs);
  return {
    facts: { id, name, collectorType: 'Installable', ephemeral: false },
    showsOsTime: false,
    life: alive
      ? { kind: 'up', upSince: Math.min(lastSeenAlive, now), version }
      : { kind: 'down', lastHeartbeatAt, version },
    pending: upAt === undefined ? [] : [{ at: upAt, kind: 'up', version }],
  };
}

/** The course of a task by its fate: the build is shown as soon as the task ends. */
function scriptOf({ durationMs, ends }: Fate, { requestedAt, toVersion }: AcceptedUpgrade): TaskScript {
  const endsAt = requestedAt + durationMs;
  const course = { pendingAt: requestedAt, progressingAt: requestedAt + receivedForMs, endsAt };
  const up = { at: endsAt, kind: 'up', version: toVersion } as const;
  const done = { ...course, endStatus: 2, message: '' } as const;
  switch (ends.kind) {
    case 'failed':
      return { ...course, endStatus: 3, message: ends.message, life: [] };
    case 'succeeded':
      return { ...done, life: [up] };
    case 'lost':
      return { ...done, life: [{ at: endsAt, kind: 'down', version: toVersion }] };
    default:
      return { ...done, life: [up, { at: endsAt + ends.afterMs, kind: 'down' }] };
  }
}
