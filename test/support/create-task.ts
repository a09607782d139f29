import type { Answer, CreateTask, FleetService } from '../../src/orchestrator/ports/fleet-service.ts';

/** Both phases of a create, with `beforeSend` between them: where it says false, the place in the budget is given up. */
export async function createTask(
  fleet: Pick<FleetService, 'reserveCreate'>,
  task: CreateTask,
  beforeSend: () => Promise<boolean> = async () => true,
  signal?: AbortSignal,
): Promise<Answer<{ readonly taskId: string }>> {
  const reserved = await fleet.reserveCreate(task, signal);
  if (!reserved.ok) return reserved;
  if (await beforeSend()) return reserved.value.send();
  reserved.value.giveUp();
  return { ok: false, failure: { kind: 'cancelled', sent: false } };
}
