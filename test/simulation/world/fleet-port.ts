import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Answer, FleetService, InventoryPage } from '../../../src/orchestrator/ports/fleet-service.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import { readServiceTime, unknownServiceClock } from '../../../src/rollout/model/service-clock.ts';
import type { ServiceFailure } from '../../../src/rollout/upgrade/failure-classes.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { ProcessModel } from './process-model.ts';
import type { CollectorModel, CreateResult } from './service-model.ts';

const refusals = [
  'collector.not.alive',
  'collector.type.invalid',
  'who.knows',
  'collector.in.upgrading',
] as const;

// The service's pages are larger, and so are its fleets.
const rowsPerPage = 25;

// Three heartbeats.
const wellWithinMs = 45_000;

// The client gives up on an answer after this long (the default of `requestTimeout`).
const timeoutMs = 30_000;

/** A daemon's way to the service. `createFor`: the same for the steps of one rollout, so that its creates can be distinguished. */
export interface FleetPort {
  readonly fleet: FleetService;
  createFor(rolloutId: string): FleetService;
}

/** When an answer's request left, by the daemon's clock, and when the service gave it, as far as its `Date` proves that. */
interface AnswerTimes {
  readonly readAt: number;
  readonly serviceAt: number | null;
}

const secondMs = 1_000;

export function makeFleetPort(night: Night, process: ProcessModel): FleetPort {
  const { gateway, setup, scheduler } = night;
  const { account } = process.host;
  const service = night.services[account];
  const chances = makeChances(setup.seed, `calls/${process.name}`);
  const dates = makeChances(setup.seed, `dates/${process.name}`);
  let serviceClock = unknownServiceClock;
  /** The time of an answer, from its `Date`, as the client judges it. */
  const timeOf = (sentAt: number): number | null => {
    const dateAt = Math.floor(gateway.date(dates) / secondMs) * secondMs;
    const judged = readServiceTime(serviceClock, { sentAt, answeredAt: process.clock.now(), dateAt });
    serviceClock = judged.clock;
    return night.plant === 'dateBelieved' ? dateAt : judged.serviceAt;
  };
  /** When the list that it answered was true at the latest: its `Date` tells whole seconds. */
  const offeredAtOf = (serviceAt: number | null) => (serviceAt === null ? null : serviceAt + secondMs);
  const travelMs = () =>
    night.strikes('slowAnswer', chances) ? chances.int(1_000, 12_000) : chances.int(5, 150);
  /** One exchange: there, what it reads there, and back. */
  const read = async <T>(look: (times: AnswerTimes) => Answer<T>): Promise<Answer<T>> => {
    await night.point(process);
    const sentAt = process.clock.now();
    await process.wait(travelMs());
    if (night.strikes('readFails', chances)) return unavailable('HTTP 503');
    const answer = look({ readAt: sentAt, serviceAt: timeOf(sentAt) });
    await process.wait(travelMs());
    return answer;
  };
  const shown = (collector: CollectorModel): FleetCollector => {
    const { about, build } = collector;
    const lastSeenAlive = service.lastHeartbeat(collector);
    const at = scheduler.now();
    if (at - lastSeenAlive <= wellWithinMs) night.shown.note(account, about.id, { at, build });
    return { ...about, build, alive: service.isShownAlive(collector), lastSeenAlive };
  };
  /** A collector that the service will not show, nor its tasks, as long as it lives. */
  const isHidden = (collectorId: number): boolean => {
    if (setup.faults.pollsRefused === 0) return false;
    const hits = makeChances(setup.seed, `hidden/${collectorId}`).hit(setup.faults.pollsRefused);
    if (hits) night.struck('pollsRefused');
    return hits;
  };
  const isOffered = (build: string) => service.builds().some(({ version }) => isSameBuild(version, build));
  const present = () => [...service.collectors.values()].filter(({ deletedAt }) => deletedAt === null);
  const listed = () => gateway.listed(present());
  const inventory = (times: AnswerTimes) => ({ ...times, collectors: listed().map(shown) });

  /** As they come: what was shown of the pages before one that fails is known. */
  const readPages = async (onPage: (page: InventoryPage) => Promise<void>) => {
    const readAt = process.clock.now();
    const collectors: FleetCollector[] = [];
    let serviceAt: number | null = null;
    let ids: readonly number[] = [];
    for (let from = 0; from === 0 || from < ids.length; from += rowsPerPage) {
      const answer = await read((times) => {
        const all = listed();
        ids = all.map(({ about }) => about.id);
        return ok({
          collectors: all.slice(from, from + rowsPerPage).map(shown),
          serviceAt: times.serviceAt,
        });
      });
      if (!answer.ok) return answer;
      collectors.push(...answer.value.collectors);
      serviceAt = answer.value.serviceAt;
      await onPage(answer.value);
    }
    return ok({ readAt, serviceAt, collectors });
  };

  const fleet: FleetService = {
    listBuilds: () => read(() => ok(service.builds())),
    readFleet: (build) =>
      read((times) => {
        if (!isOffered(build)) return refused('collector.version.invalid');
        const upgradable = listed().filter((collector) => service.isUpgradable(collector, build));
        const upgradableIds = new Set(upgradable.map(({ about }) => about.id));
        return ok({ ...inventory(times), upgradableIds, offeredAt: offeredAtOf(times.serviceAt) });
      }),
    readInventory: async (onPage) => {
      if (onPage === null) return read((times) => ok(inventory(times)));
      return readPages(onPage);
    },
    readUpgradable: async (build, onPage) => {
      for (let from = 0, pages = 1; ; from += rowsPerPage, pages += 1) {
        const answer = await read(({ serviceAt }) => {
          if (!isOffered(build)) return refused('collector.version.invalid');
          const upgradable = listed().filter((collector) => service.isUpgradable(collector, build));
          return ok({ collectors: upgradable.slice(from, from + rowsPerPage).map(shown), serviceAt });
        });
        if (!answer.ok) return answer;
        await onPage(answer.value);
        if (answer.value.collectors.length < rowsPerPage) return ok({ pages, isInOrder: true });
      }
    },
    findCollector: (idOrName) =>
      read(() => {
        const found = present().find(
          ({ about }) =>
            (String(about.id) === idOrName || about.name === idOrName) && !gateway.isDenied(about.id),
        );
        return ok(found === undefined ? undefined : shown(found));
      }),
    reserveCreate: async () => unavailable('creates belong to a rollout'),
    pollTask: (taskId) =>
      read(({ serviceAt }) => {
        const task = service.tasks.get(taskId);
        if (task === undefined || gateway.isDenied(task.collectorId))
          return { ok: false, failure: { kind: 'notFound', detail: 'no such task' } };
        if (isHidden(task.collectorId)) return refused('who.knows');
        if (!task.isOver)
          return ok({ status: scheduler.now() - task.createdAt < 5_000 ? 1 : 6, message: '', serviceAt });
        return ok({ status: task.succeeds ? 2 : 3, message: task.message, serviceAt });
      }),
    pollCollector: ({ collectorId, upgradableTo }) =>
      read(({ serviceAt }) => {
        if (gateway.pollsFail()) return unavailable('HTTP 502');
        const collector = service.collectors.get(collectorId);
        if (collector === undefined || collector.deletedAt !== null || gateway.isDenied(collectorId))
          return { ok: false, failure: { kind: 'notFound', detail: 'no such collector' } };
        if (isHidden(collectorId)) return refused('who.knows');
        night.judge.polled(collectorId);
        const { build, alive, lastSeenAlive } = shown(collector);
        const isListRead = upgradableTo !== null && alive && build !== upgradableTo;
        // The list of a build that is not on offer is refused: nobody is upgradable to that.
        const upgradable =
          upgradableTo === null
            ? null
            : isOffered(upgradableTo) &&
              service.isUpgradable(collector, upgradableTo) &&
              gateway.listed([collector]).length > 0;
        const offeredAt = offeredAtOf(serviceAt);
        return ok({
          build,
          alive,
          lastSeenAlive: lastSeenAlive ?? null,
          serviceAt,
          upgradable,
          ...(isListRead && !isOffered(upgradableTo) && { isBuildRefused: true as const }),
          ...(upgradable === true && offeredAt !== null ? { offeredAt } : {}),
        });
      }),
  };
  return {
    fleet,
    createFor: (rolloutId) => ({
      ...fleet,
      reserveCreate: async ({ collectorId, toBuild }) => {
        await night.point(process);
        // Its place in the API budget.
        await process.wait(
          night.strikes('slowAnswer', chances) ? chances.int(1_000, 90_000) : chances.int(0, 400),
        );
        const create = { rolloutId, collectorId, toBuild, daemon: process.name, account };
        return ok({ send: () => send(night, process, chances, create, travelMs), giveUp: () => {} });
      },
    }),
  };
}

/** From here on the request is on its way, whatever becomes of the daemon. */
function send(
  night: Night,
  process: ProcessModel,
  chances: Chances,
  create: Parameters<Night['judge']['leaves']>[0],
  travelMs: () => number,
): Promise<Answer<{ readonly taskId: string }>> {
  const { scheduler, judge } = night;
  const service = night.services[create.account];
  judge.leaves(create);
  night.trace(process.name, () => `create of ${create.collectorId} for ${create.rolloutId} leaves`);
  const leftAt = scheduler.now();
  const isNotDone = night.strikes('createNotDone', chances);
  const isLost = night.strikes('createAnswerLost', chances);
  const isDeferred = night.strikes('createDeferred', chances);
  const drawn = night.strikes('createRefused', chances) ? chances.pick(refusals) : null;
  const refusal = isDeferred ? 'collector.not.alive' : drawn;
  const collector = service.collectors.get(create.collectorId);
  const isIdle = collector?.task === null && collector.downSince === null;
  if (refusal === null && isIdle && night.strikes('upgradedByHand', chances))
    service.installByHand(collector, create.toBuild);
  return new Promise((resolve) => {
    let isAnswered = false;
    const answer = (given: Answer<{ readonly taskId: string }>) =>
      process.goOn(() => {
        if (isAnswered) return;
        isAnswered = true;
        if (given.ok || given.failure.kind === 'refused') judge.answered(create);
        resolve(given);
      });
    scheduler.at(leftAt + timeoutMs, () => answer(unavailable('no answer within 30s')));
    scheduler.at(leftAt + travelMs(), () => {
      if (isNotDone) return answer(unavailable('HTTP 503'));
      const result: CreateResult = refusal !== null ? { kind: 'refused', code: refusal } : arrive();
      night.trace(
        'service',
        () =>
          `create of ${create.collectorId}: ${result.kind}${result.kind === 'refused' ? ` ${result.code}` : ` task ${result.task.id} until ${result.task.endsAt - scheduler.now()} ms`}`,
      );
      if (isLost) return undefined;
      return scheduler.at(scheduler.now() + travelMs(), () =>
        answer(
          result.kind === 'created'
            ? ok({ taskId: result.task.id })
            : { ok: false, failure: { kind: 'refused', code: result.code, detail: '' } },
        ),
      );
    });
  });
  function arrive(): CreateResult {
    judge.arrives(create);
    if (night.gateway.isDenied(create.collectorId)) return { kind: 'refused', code: 'collector.invalid' };
    const result = service.create(create);
    if (result.kind === 'created') judge.started(create);
    return result;
  }
}

function ok<T>(value: T): Answer<T> {
  return { ok: true, value };
}

function refused(code: string): { readonly ok: false; readonly failure: ServiceFailure } {
  return { ok: false, failure: { kind: 'refused', code, status: 400, detail: '' } };
}

function unavailable(detail: string): { readonly ok: false; readonly failure: ServiceFailure } {
  return { ok: false, failure: { kind: 'unavailable', sent: true, detail } };
}
