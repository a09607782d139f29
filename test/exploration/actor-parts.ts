import { reconcile } from '../../src/orchestrator/lead/reconcile.ts';
import { makeApplyVerb } from '../../src/orchestrator/operations/apply-verb.ts';
import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { CreateTask, FleetService, ReservedCreate } from '../../src/orchestrator/ports/fleet-service.ts';
import type { StepQueue } from '../../src/orchestrator/ports/leader.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { makeSharedAttributes } from '../../src/orchestrator/records/shared-attributes.ts';
import { runStep } from '../../src/orchestrator/step/run-step.ts';
import { makeMemoryRolloutStore } from '../../src/rehearsal/store/memory-rollout-store.ts';
import { aFleetService } from '../support/builders/service-builders.ts';
import { anApiBudgetStatus } from '../support/builders.ts';
import { quietLead, quietParts } from '../support/quiet-parts.ts';
import { type Ports, plantedOrders } from './planted-orders.ts';
import type { Call, Rerun } from './rerun.ts';
import { rowBefore } from './small-service.ts';
import type { Actor, SmallWorld } from './small-world.ts';

/** No answer or effect of a create comes later than this. */
export const answerWithinMs = 35_000;

// As in the leader's composition: a step that is later than this may have lost its job.
export const overdueMs = 3_000;

// A verb that waits for creates asks each 10 ms for a second. Three questions show the same.
const sleepMinMs = 400;

const never = new AbortController().signal;

/** Runs the actor's work on ports that ask `rerun`. @returns what it came to */
export function runWork({ work, daemon }: Pick<Actor, 'work' | 'daemon'>, rerun: Rerun, world: SmallWorld) {
  const parts = partsOf(rerun, world, daemon);
  switch (work.kind) {
    case 'step':
      return runStep(parts, work, never);
    case 'reconcile':
      return reconcile(parts, work.rolloutId, work.fence, overdueMs);
    case 'verb':
      return makeApplyVerb(parts)({ ...work.asked, rolloutId: work.rolloutId, by: 'ann', reason: '' });
  }
}

function partsOf(rerun: Rerun, world: SmallWorld, daemon: number) {
  const { store, service, trustedSince, planted, areListsRead } = world;
  const policies = store.rollouts.map(({ rollout }) => rollout.policy.name);
  const ports = portsOf(rerun, trustedSince[daemon] ?? 0);
  return {
    ...quietParts,
    ...quietLead,
    ...ports,
    ...(planted === null ? {} : plantedOrders[planted].change(ports)),
    register: asking<FleetRegister>(rerun, 'register', registerCalls),
    sleep: async (forMs: number) => {
      await rerun.ask({ port: 'sleep', name: 'sleep', args: [Math.max(forMs, sleepMinMs)] });
    },
    clock: { now: rerun.now },
    wakeUps: { wake: rerun.wake },
    answerWithinMs,
    readApiBudgetStatus: async () => anApiBudgetStatus(),
    rollouts: () => [],
    observations: {
      note: () => undefined,
      find: (id: number) => (areListsRead ? rowBefore(service, id, rerun.now()) : undefined),
    },
    sharedAttributes: makeSharedAttributes(),
    claims: { names: async () => policies, isMissing: () => false },
  };
}

const storeCalls = Object.keys(makeMemoryRolloutStore());
const registerCalls = ['holdsOf', 'holds', 'holdBuild', 'audit'];

function portsOf(rerun: Rerun, trustedSince: number): Ports {
  const queue = asking<StepQueue>(rerun, 'queue', ['deliver', 'bringForward']);
  return {
    store: asking<RolloutStore>(rerun, 'store', storeCalls),
    fleet: {
      ...aFleetService(
        asking<Partial<FleetService>>(rerun, 'fleet', ['listBuilds', 'pollTask', 'pollCollector']),
      ),
      reserveCreate: (task) => reserve(rerun, task),
    },
    queue: {
      ...queue,
      deliver: async (rolloutId, ids) => {
        if (ids.length > 0) await queue.deliver(rolloutId, ids);
      },
    },
    trustedSince: () => trustedSince,
  };
}

/** It waits for its place in the API budget, and leaves when it is sent. */
async function reserve(rerun: Rerun, task: CreateTask): ReturnType<FleetService['reserveCreate']> {
  const reservedAt = await rerun.ask({ port: 'create', name: 'reserve', args: [task] });
  const send: ReservedCreate['send'] = () =>
    rerun.ask({ port: 'create', name: 'send', args: [task, reservedAt] }) as ReturnType<
      ReservedCreate['send']
    >;
  return { ok: true, value: { send, giveUp: () => undefined } };
}

/** A port whose calls are asked. */
function asking<Port extends object>(rerun: Rerun, port: Call['port'], names: readonly string[]): Port {
  const calls: Record<string, (...args: readonly unknown[]) => Promise<unknown>> = {};
  for (const name of names) calls[name] = (...args) => rerun.ask({ port, name, args: withoutSignals(args) });
  return calls as Port;
}

/** Nothing is aborted here, and a signal is no data. */
function withoutSignals(args: readonly unknown[]): readonly unknown[] {
  return args.filter((arg) => !(arg instanceof AbortSignal));
}
