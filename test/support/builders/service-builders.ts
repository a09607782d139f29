import type { Answer, CreateTask, FleetService } from '../../../src/orchestrator/ports/fleet-service.ts';

/** A service that gives these answers. All other requests are throttled. */
export function aFleetService(answers: Partial<FleetService> = {}): FleetService {
  const unreadable = async () => ({ ok: false, failure: { kind: 'throttled', detail: '' } }) as const;
  return {
    listBuilds: unreadable,
    readFleet: unreadable,
    readInventory: unreadable,
    readUpgradable: unreadable,
    findCollector: unreadable,
    reserveCreate: unreadable,
    pollTask: unreadable,
    pollCollector: unreadable,
    ...answers,
  };
}

/** A create that gets its place at once, or when `place` allows it. */
export function reserving(
  send: (task: CreateTask) => Promise<Answer<{ readonly taskId: string }>>,
  place: () => unknown = () => undefined,
): FleetService['reserveCreate'] {
  return async (task) => {
    await place();
    return { ok: true, value: { send: () => send(task), giveUp: () => undefined } };
  };
}
