import { isSameBuild } from '../../../src/base/build-version.ts';
import { startStopwatch } from '../../../src/base/stopwatch.ts';
import { makeFleetService } from '../../../src/collector-api/fleet/fleet-service.ts';
import type { ServedAnswer, ServiceCall } from '../../../src/collector-api/wire/service-call.ts';
import type { ServiceClient } from '../../../src/collector-api/wire/service-client.ts';
import {
  type Answer,
  type FleetService,
  sendWithinMs,
} from '../../../src/orchestrator/ports/fleet-service.ts';
import { readServiceTime, unknownServiceClock } from '../../../src/rollout/model/service-clock.ts';
import type { ServiceFailure } from '../../../src/rollout/upgrade/failure-classes.ts';
import { makeServiceAnswers, type ServiceInput, type View } from '../../support/virtual/service-answers.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { CreateOf } from '../judge/judge-creates.ts';
import type { Night } from '../night.ts';
import { drawWire } from './night-wire.ts';
import type { Account, ProcessModel } from './process-model.ts';
import type { ServiceModel } from './service-model.ts';

const refusals = [
  'collector.not.alive',
  'collector.type.invalid',
  'who.knows',
  'collector.in.upgrading',
] as const;

// The service's pages are larger, and so are its fleets.
export const rowsPerPage = 25;

// Three heartbeats.
const wellWithinMs = 45_000;

// The client gives up on an answer after this long (the default of `requestTimeout`).
const timeoutMs = 30_000;

const secondMs = 1_000;

/** A daemon's way to the service. `createFor`: the same for the steps of one rollout, so that its creates can be distinguished. */
export interface FleetPort {
  readonly fleet: FleetService;
  createFor(rolloutId: string): FleetService;
}

/** The real port on a client of the night's service. */
export function makeFleetPort(night: Night, process: ProcessModel): FleetPort {
  const clientOf = makeNightClient(night, process);
  const fleetOf = (rolloutId: string | null) =>
    makeFleetService({
      client: clientOf(rolloutId),
      clock: process.clock,
      sleep: (forMs) => process.wait(forMs),
      pageSize: rowsPerPage,
      onUnreadable: () => undefined,
    });
  const fleet = fleetOf(null);
  return {
    fleet,
    createFor: (rolloutId) => ({ ...fleet, reserveCreate: fleetOf(rolloutId).reserveCreate }),
  };
}

/** What a request needs on its way there and back. */
interface Way {
  readonly night: Night;
  readonly process: ProcessModel;
  readonly chances: Chances;
  travelMs(): number;
  /** The service's answer now. */
  answer(name: string, input: ServiceInput): Answer<unknown>;
  served(answer: Answer<unknown>, sentAt: number): ServedAnswer<unknown>;
}

/** A daemon's client of the service: its requests and answers are lost, late or wrong as the night wants. */
function makeNightClient(night: Night, process: ProcessModel): (rolloutId: string | null) => ServiceClient {
  const { account } = process.host;
  const chances = makeChances(night.setup.seed, `calls/${process.name}`);
  const way: Way = {
    ...{ night, process, chances },
    travelMs: () => (night.strikes('slowAnswer', chances) ? chances.int(1_000, 12_000) : chances.int(5, 150)),
    answer: makeServiceAnswers(night.services[account].world, drawWire(night, process), {
      onShown: noteShown(night, process),
    }),
    served: makeServed(night, process),
  };
  return (rolloutId) => ({
    call: async (operation, input, call) =>
      (await read(way, operation.name, input as ServiceInput, call)) as never,
    reserve: async (_create, input) => {
      if (rolloutId === null) return unavailable('creates belong to a rollout');
      await night.point(process);
      // Its place in the API budget.
      await process.wait(
        night.strikes('slowAnswer', chances) ? chances.int(1_000, 90_000) : chances.int(0, 400),
      );
      const { collectorId, toVersion } = (input as ServiceInput).body ?? {};
      const create: CreateOf = {
        ...{ rolloutId, account, daemon: process.name },
        ...{ collectorId: Number(collectorId), toBuild: String(toVersion) },
      };
      const ageMs = startStopwatch(process.clocks);
      // As the client does, which sends a create within a second of its place, or not at all.
      const send = async () => (ageMs() > sendWithinMs ? unsent : await sendCreate(way, create)) as never;
      return { ok: true, value: { send, giveUp: () => {} } };
    },
    redactor: () => (text) => text,
    close: async () => undefined,
  });
}

/** The time of an answer, from its `Date`, as the client judges it. */
function makeServed(night: Night, process: ProcessModel): Way['served'] {
  const dates = makeChances(night.setup.seed, `dates/${process.name}`);
  let serviceClock = unknownServiceClock;
  return (answer, sentAt) => {
    const dateAt = Math.floor(night.gateway.date(dates) / secondMs) * secondMs;
    const judged = readServiceTime(serviceClock, { sentAt, answeredAt: process.clock.now(), dateAt });
    serviceClock = judged.clock;
    const serviceAt = night.plant === 'dateBelieved' ? dateAt : judged.serviceAt;
    return answer.ok ? { ok: true, value: { body: answer.value, serviceAt, etag: null } } : answer;
  };
}

function noteShown({ shown, scheduler }: Night, { host }: ProcessModel): (view: View) => void {
  return ({ id, collectorVersion, lastSeenAlive }) => {
    const at = scheduler.now();
    if (at - (lastSeenAlive ?? 0) <= wellWithinMs)
      shown.note(host.account, id ?? 0, { at, build: collectorVersion ?? '' });
  };
}

/** One exchange: there, what it reads there, and back. */
async function read(
  way: Way,
  name: string,
  input: ServiceInput,
  { budgetClass, onSend }: ServiceCall,
): Promise<ServedAnswer<unknown>> {
  const { night, process, chances, travelMs } = way;
  night.progress.spent('requests');
  await night.point(process);
  onSend?.();
  const sentAt = process.clock.now();
  await process.wait(travelMs());
  if (night.strikes('readFails', chances)) return unavailable('HTTP 503');
  const isOperator = budgetClass === 'operator';
  const given = gatewayAnswer(night, { name, input, isOperator, account: process.host.account });
  const answer = way.served(given ?? way.answer(name, input), sentAt);
  if (name === 'getCollector' && !isOperator && answer.ok) night.judge.polled(Number(input.params?.['id']));
  await process.wait(travelMs());
  return answer;
}

/** What is answered in place of the service to a look at one collector or task; undefined: nothing. */
function gatewayAnswer(
  { gateway, services, setup, struck }: Night,
  asked: {
    readonly name: string;
    readonly input: ServiceInput;
    readonly isOperator: boolean;
    readonly account: Account;
  },
): Answer<never> | undefined {
  const { name, input, isOperator, account } = asked;
  const collectorId = collectorOf(services[account], name, input);
  if (collectorId === undefined) return undefined;
  if (name === 'getCollector' && !isOperator && gateway.pollsFail()) return unavailable('HTTP 502');
  if (gateway.isDenied(collectorId))
    return { ok: false, failure: { kind: 'notFound', detail: 'there is none' } };
  if (isOperator || setup.faults.pollsRefused === 0) return undefined;
  // The service will not show it, nor its tasks, as long as it lives.
  if (!makeChances(setup.seed, `hidden/${collectorId}`).hit(setup.faults.pollsRefused)) return undefined;
  struck('pollsRefused');
  return refused('who.knows');
}

/** The one collector that a request is about. */
function collectorOf({ world, tasks }: ServiceModel, name: string, { params = {} }: ServiceInput) {
  if (name === 'getCollector') return Number(params['id']);
  if (name === 'getCollectorByName') return world.collectorNamed(String(params['name']))?.facts.id;
  return name === 'getUpgradeTask' ? tasks.get(String(params['upgradeTaskId']))?.collectorId : undefined;
}

/** From here on the request is on its way, whatever becomes of the daemon. */
function sendCreate(way: Way, create: CreateOf): Promise<ServedAnswer<unknown>> {
  const { night, process, chances, travelMs } = way;
  const { scheduler, judge } = night;
  const { collectorId, toBuild, rolloutId } = create;
  const service = night.services[create.account];
  judge.leaves(create);
  night.progress.fact(collectorId);
  night.progress.spent('requests');
  night.trace(process.name, () => `create of ${collectorId} for ${rolloutId} leaves`);
  const leftAt = scheduler.now();
  const sentAt = process.clock.now();
  const isNotDone = night.strikes('createNotDone', chances);
  const isLost = night.strikes('createAnswerLost', chances);
  const isDeferred = night.strikes('createDeferred', chances);
  const drawn = night.strikes('createRefused', chances) ? chances.pick(refusals) : null;
  const refusal = isDeferred ? 'collector.not.alive' : drawn;
  const collector = service.collectors.get(collectorId);
  const isIdle = collector?.task === null && collector.downSince === null && collector.deletedAt === null;
  if (refusal === null && isIdle && night.strikes('upgradedByHand', chances))
    service.installByHand(collector, toBuild);
  return new Promise((resolve) => {
    let isAnswered = false;
    const answer = (given: Answer<unknown>) =>
      process.goOn(() => {
        if (isAnswered) return;
        isAnswered = true;
        if (given.ok || given.failure.kind === 'refused') judge.answered(create);
        resolve(way.served(given, sentAt));
      });
    scheduler.at(leftAt + timeoutMs, () => answer(unavailable('no answer within 30s')));
    scheduler.at(leftAt + travelMs(), () => {
      if (isNotDone) return answer(unavailable('HTTP 503'));
      if (refusal !== null && refusal !== 'collector.in.upgrading') judge.misleads(create);
      const result = refusal === null ? arrive(way, create) : refused(refusal);
      night.trace(
        'service',
        () => `create of ${collectorId}: ${JSON.stringify(result.ok ? result.value : result.failure)}`,
      );
      if (isLost) return undefined;
      return scheduler.at(scheduler.now() + travelMs(), () => answer(result));
    });
  });
}

const unsent = { ok: false, failure: { kind: 'cancelled', sent: false } } as const;

function arrive({ night, answer }: Way, create: CreateOf): Answer<unknown> {
  const { collectorId, toBuild, rolloutId, account } = create;
  const service = night.services[account];
  night.judge.arrives(create);
  if (night.gateway.isDenied(collectorId)) return refused('collector.invalid');
  const collector = service.collectors.get(collectorId);
  // The reference service takes a task for the build that a collector runs. Nobody knows of the real one.
  const isThere = collector?.deletedAt === null && isSameBuild(collector.build, toBuild);
  if (isThere && service.habits.refusesSameBuild) return refused('collector.version.invalid');
  const result = answer('createUpgradeTask', { body: { collectorId, toVersion: toBuild } });
  if (!result.ok) return result;
  const task = service.world.task((result.value as { readonly id: string }).id);
  if (task !== undefined) service.began(task, rolloutId);
  night.judge.started(create);
  return result;
}

function refused(code: string): { readonly ok: false; readonly failure: ServiceFailure } {
  return { ok: false, failure: { kind: 'refused', code, status: 400, detail: '' } };
}

function unavailable(detail: string): { readonly ok: false; readonly failure: ServiceFailure } {
  return { ok: false, failure: { kind: 'unavailable', sent: true, detail } };
}
