import { seededChance } from '../../../src/base/chance.ts';
import type { ServedAnswer } from '../../../src/collector-api/wire/service-call.ts';
import type { ServiceClient } from '../../../src/collector-api/wire/service-client.ts';
import { makeWaitingLine } from '../../../src/redis/api-budget/waiting-line.ts';
import type { SimulatedTask } from '../../../src/reference-service/fleet/upgrade-tasks.ts';
import type { World } from '../../../src/reference-service/fleet/world.ts';
import type { Scheduler } from '../../simulation/world/scheduler.ts';
import { makeServiceAnswers, type ServiceInput, type Wire } from './service-answers.ts';

/** How a service differs from the reference service. */
export interface VirtualWire extends Omit<Wire, 'endStatusOf'> {
  /** The share of requests that get a page of a gateway. */
  readonly htmlShare?: number;
  /** The status of successful tasks, and the share of tasks with it. */
  readonly endStatus?: { readonly status: number; readonly share: number };
  /** Instants between which no request gets its place, as in an outage. */
  readonly outage?: { readonly from: number; readonly to: number };
}

/** What the service saw. */
export interface ServiceLog {
  readonly requests: Map<string, number>;
  readonly tasks: SimulatedTask[];
  /** When an answer first showed that a task had ended, by the id of the task. */
  readonly endSeenAt: Map<string, number>;
}

const travelMs = 60;

/**
 * The client of a service in virtual time: the reference service's world behind an API budget with evenly spaced places. A
 * request takes its place by the daemon's own order.
 */
export function makeVirtualClient(parts: {
  readonly scheduler: Scheduler;
  readonly world: World;
  readonly wire: VirtualWire;
  readonly requestsPerSecond: number;
  readonly seed: number;
}): { readonly client: ServiceClient; readonly log: ServiceLog } {
  const { scheduler, wire, requestsPerSecond } = parts;
  const chance = seededChance(parts.seed);
  const log: ServiceLog = { requests: new Map(), tasks: [], endSeenAt: new Map() };
  const line = makeWaitingLine<() => void>();
  const spacingMs = 1_000 / requestsPerSecond;
  let freeAt = 0;
  let isAsked = false;
  const wait = (forMs: number) =>
    new Promise<void>((resolve) => scheduler.at(scheduler.now() + forMs, resolve));
  const firstUp = (at: number) => {
    const { from, to } = wire.outage ?? { from: at, to: at };
    return from <= at && at < to ? to : at;
  };
  const serveNext = (): void => {
    if (isAsked || line.size === 0) return;
    isAsked = true;
    scheduler.at(firstUp(Math.max(scheduler.now(), freeAt)), () => {
      isAsked = false;
      freeAt = Math.max(freeAt, scheduler.now()) + spacingMs;
      line.takeNext()?.();
      serveNext();
    });
  };
  const place = (budgetClass: Parameters<typeof line.add>[0]) =>
    new Promise<void>((resolve) => {
      line.add(budgetClass, resolve);
      serveNext();
    });
  const answer = makeAnswers(parts, log, chance);
  const exchange = async (name: string, input: ServiceInput): Promise<ServedAnswer<unknown>> => {
    log.requests.set(name, (log.requests.get(name) ?? 0) + 1);
    await wait(travelMs / 2);
    const isHtml = chance() < (wire.htmlShare ?? 0);
    const served = isHtml ? html : answer(name, input);
    await wait(travelMs / 2);
    return served;
  };
  const client: ServiceClient = {
    call: async (operation, input, { budgetClass, onSend }) => {
      await place(budgetClass);
      onSend?.();
      return (await exchange(operation.name, input as ServiceInput)) as never;
    },
    reserve: async (operation, input, { budgetClass }) => {
      await place(budgetClass);
      const send = async () => (await exchange(operation.name, input as ServiceInput)) as never;
      return { ok: true, value: { giveUp: () => undefined, send } };
    },
    redactor: () => (text) => text,
    close: async () => undefined,
  };
  return { client, log };
}

const html = {
  ok: false,
  failure: { kind: 'unavailable', sent: true, detail: '502 with an HTML page' },
} as const;

/** The answers of the service at this instant, and what it saw. */
function makeAnswers(
  { scheduler, world, wire }: Parameters<typeof makeVirtualClient>[0],
  log: ServiceLog,
  chance: () => number,
): (name: string, input: ServiceInput) => ServedAnswer<unknown> {
  const unusualEnds = new Set<string>();
  const endStatusOf = ({ id }: SimulatedTask) => (unusualEnds.has(id) ? (wire.endStatus?.status ?? 2) : 2);
  const answer = makeServiceAnswers(
    world,
    { ...wire, endStatusOf },
    {
      onCreated: (task) => {
        log.tasks.push(task);
        if (chance() < (wire.endStatus?.share ?? 0)) unusualEnds.add(task.id);
      },
      onEnded: ({ id }) => {
        if (!log.endSeenAt.has(id)) log.endSeenAt.set(id, world.now());
      },
    },
  );
  return (name, input) => {
    const serviceAt = Math.floor(scheduler.now() / 1_000) * 1_000;
    const answered = answer(name, input);
    return answered.ok ? { ok: true, value: { body: answered.value, serviceAt, etag: null } } : answered;
  };
}
