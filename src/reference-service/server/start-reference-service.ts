import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { type Sleep, sleepForReal } from '../../base/waiting.ts';
import { collectorManagementApi, versionPath } from '../../contract/collector-management/api.ts';
import { mountOperations, type OperationHandlers } from '../../http/operation-handlers.ts';
import { startHttpServer } from '../../http/server.ts';
import { Callers } from '../api/callers.ts';
import { makeCollectorHandlers } from '../api/collector-handlers.ts';
import { requestFailure } from '../api/error-answers.ts';
import { makeSearchJobHandlers } from '../api/search-job-handlers.ts';
import type { ServiceRecord } from '../api/service-record.ts';
import { makeSourceHandlers } from '../api/source-handlers.ts';
import { makeUpgradeHandlers } from '../api/upgrade-handlers.ts';
import { controlApi } from '../control/control-api.ts';
import { makeControlHandlers } from '../control/control-handlers.ts';
import type { ListedFleet } from '../fleet/listed-fleet.ts';
import type { World } from '../fleet/world.ts';
import { mainAccountName } from '../scenario/account-scenario.ts';
import { parseScenario, type Scenario } from '../scenario/scenario.ts';
import type { Credentials } from './authentication.ts';
import { makeSimulation, type Simulation, worldOf } from './simulation.ts';
import { readStateFile, type ServiceState, StateKeeper, stateFormat } from './state-file.ts';

export interface ReferenceServiceParts {
  /** Keys of one user who may manage the main account, in addition to the keys of the scenario. */
  readonly credentials: readonly Credentials[];
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0, the default: any free port. */
  readonly port?: number;
  /** Default: a plain fleet. */
  readonly scenario?: Scenario;
  /** The collectors of the main account, which the scenario's `fleet` has to fit. Default: drawn ones. */
  readonly listed?: ListedFleet | undefined;
  /** How much faster than real time the service runs. Its rate limit is multiplied as well. Default: 1. */
  readonly speed?: number;
  /** Real time. Default: the machine's clock. */
  readonly realClock?: Clock;
  /** The service's time. Default: `realClock` multiplied by `speed`. */
  readonly clock?: Clock;
  /** A file that stores fleet, sources, tasks and builds over restarts. Default: null, none. */
  readonly state?: string | null;
  /** Called for each failed write of the state. Default: a warning of the process. */
  readonly onStateFailure?: (error: Error) => void;
  /** Waits for real milliseconds. Default: a timer. */
  readonly waitReal?: Sleep;
}

export interface ReferenceService {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly port: number;
  /** The base URL for a client's config: `{url}/api`. `{url}` works as well. */
  readonly baseUrl: string;
  readonly record: ServiceRecord;
  /** The main account's fleet, to inspect and disturb. */
  readonly world: World;
  /** The fleet of any account. @throws for an unknown one */
  worldOf(account: string): World;
  readonly clock: Clock;
  /** Ends all sessions, as a restart of the service does. */
  forgetSessions(): void;
  close(): Promise<void>;
}

/** Bodies of this API are small. A larger one is a mistake or an attack. */
const bodyBytesMax = 1024 * 1024;

/** Base paths of real services (field-facts.md, The wire). */
const prefixes = [versionPath, `/api${versionPath}`];

/**
 * Simulates the Collector Management Service over HTTP.
 * @throws StateFileError when the state is unreadable or unwritable; it is never overwritten then
 * @throws when it can't listen on the address
 */
export async function startReferenceService(given: ReferenceServiceParts): Promise<ReferenceService> {
  const parts = { ...defaultParts(), ...given };
  const { speed } = parts;
  const realClock = parts.realClock ?? parts.clock ?? steadyClock;
  const stored =
    parts.state === null ? undefined : await readStateFile(parts.state, parts.scenario.fleet.seed);
  const running = parts.clock ?? makeScaledClock({ realClock, speed, ...anchorOf(stored, realClock) });
  let advancedMs: DurationMs = 0;
  const clock: Clock = { now: () => running.now() + advancedMs };
  const closing = new AbortController();
  const waitReal = parts.waitReal ?? sleepForReal;
  let keeper: StateKeeper | undefined;
  const callers = new Callers();
  const own = { url: '' };
  const ofSimulation = {
    ...{ clock, realClock, speed, callers, credentials: parts.credentials, ownUrl: () => own.url },
    wait: (durationMs: DurationMs) => waitReal(durationMs / speed, closing.signal),
    changed: () => keeper?.noteChange(),
  };
  let { listed } = parts;
  let simulation = makeSimulation(ofSimulation, parts.scenario, { stored: stored?.worlds, listed });
  let storedWorlds = stored?.worlds ?? {};
  const play = (scenario: Scenario): void => {
    // Another scenario has a fleet of its own.
    if (scenario !== simulation.scenario) listed = undefined;
    simulation = makeSimulation(ofSimulation, scenario, { listed });
    storedWorlds = {};
    keeper?.noteChange();
  };
  if (parts.state !== null) {
    keeper = new StateKeeper({
      path: parts.state,
      state: () => stateOf(simulation, { storedWorlds, clock, realClock, speed }),
      wait: (durationMs) => waitReal(durationMs, closing.signal),
      onFailure: parts.onStateFailure,
    });
    await keeper.write();
  }
  const advance = (byMs: DurationMs): void => {
    advancedMs += byMs;
  };
  const control = makeControlHandlers({ speed, simulation: () => simulation, play, advance });
  const server = await startHttpServer({
    host: parts.host,
    port: parts.port,
    bodyBytesMax,
    connections: null,
    compresses: false,
    operations: [
      ...mountService(callers, () => simulation.record),
      ...mountOperations(controlApi, { prefix: '', handlers: control }),
    ],
    around: (request, next) => simulation.checks.around(request, next),
    answerFailure: (failure, request) => {
      const refused = requestFailure(failure, request);
      simulation.record.refused(request.operation, refused);
      const headers = failure.kind === 'wrongMethod' ? { allow: failure.allowed.join(', ') } : {};
      return simulation.errors.of(refused, headers);
    },
  });
  own.url = server.url;
  return {
    url: server.url,
    port: server.port,
    baseUrl: `${server.url}/api`,
    get record() {
      return simulation.record;
    },
    get world() {
      return worldOf(simulation, mainAccountName);
    },
    worldOf: (account) => worldOf(simulation, account),
    clock,
    forgetSessions: () => simulation.authentication.forgetSessions(),
    close: async () => {
      closing.abort();
      await server.close();
      await keeper?.close();
    },
  };
}

function defaultParts() {
  return {
    host: '127.0.0.1',
    port: 0,
    scenario: parseScenario({}),
    speed: 1,
    state: null,
    onStateFailure: (error: Error) => process.emitWarning(error),
  };
}

function mountService(callers: Callers, record: () => ServiceRecord) {
  const handlers: OperationHandlers<typeof collectorManagementApi> = {
    ...makeCollectorHandlers(callers),
    ...makeSourceHandlers(callers),
    ...makeUpgradeHandlers(callers, record),
    ...makeSearchJobHandlers(callers),
  };
  return prefixes.flatMap((prefix) => mountOperations(collectorManagementApi, { prefix, handlers }));
}

/** The service's time continues as if it had never stopped. */
function anchorOf(stored: ServiceState | undefined, realClock: Clock): { anchor?: EpochMs } {
  if (stored === undefined) return {};
  const { serviceMs, realMs, speed } = stored.savedAt;
  return { anchor: serviceMs + Math.max(0, realClock.now() - realMs) * speed };
}

function stateOf(
  { accounts, scenario }: Simulation,
  parts: {
    /** Of an earlier run. */
    readonly storedWorlds: ServiceState['worlds'];
    readonly clock: Clock;
    readonly realClock: Clock;
    readonly speed: number;
  },
): ServiceState {
  const { storedWorlds, clock, realClock, speed } = parts;
  const worlds = [...accounts].map(([name, { world }]) => [name, world.stored()] as const);
  return {
    ...stateFormat,
    seed: scenario.fleet.seed,
    savedAt: { serviceMs: clock.now(), realMs: realClock.now(), speed },
    // An account that this scenario leaves out may be in a later one.
    worlds: { ...storedWorlds, ...Object.fromEntries(worlds) },
  };
}

/** Monotonic with sub-millisecond resolution, for rates over one second. */
const steadyClock: Clock = { now: () => performance.timeOrigin + performance.now() };

/**
 * A clock that runs `speed` times as fast as another one, starting at `anchor`: virtual = anchor + (real - real at start) ×
 * speed, in whole milliseconds.
 */
export function makeScaledClock(parts: {
  readonly realClock: Clock;
  readonly speed: number;
  /** The virtual instant of the start. Default: the real one. */
  readonly anchor?: EpochMs;
}): Clock {
  const realAnchor = parts.realClock.now();
  const anchor = parts.anchor ?? realAnchor;
  return { now: () => Math.floor(anchor + (parts.realClock.now() - realAnchor) * parts.speed) };
}
