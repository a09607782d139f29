import type { DurationMs } from '../../base/time.ts';
import type { HandlerAnswer, OperationHandlers } from '../../http/operation-handlers.ts';
import { describeCollectorManagementApi } from '../api/api-document.ts';
import type { Account } from '../api/callers.ts';
import type { ServiceRecord } from '../api/service-record.ts';
import { serviceRefusal } from '../fleet/refusals.ts';
import type { World } from '../fleet/world.ts';
import { mainAccountName } from '../scenario/account-scenario.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import { parseScenario, type Scenario, ScenarioError } from '../scenario/scenario.ts';
import type { controlApi } from './control-api.ts';
import { fleetPage } from './fleet-page.ts';

interface ControlParts {
  readonly speed: number;
  /** What is played now. */
  readonly simulation: () => {
    readonly scenario: Scenario;
    readonly accounts: ReadonlyMap<string, Account>;
    readonly record: ServiceRecord;
  };
  /** Begins again with new fleets. */
  readonly play: (scenario: Scenario) => void;
  readonly advance: (byMs: DurationMs) => void;
}

/** Makes the handlers of `/reference`. A mistake is a `RefusedRequest`, as in the API. */
export function makeControlHandlers({
  speed,
  simulation,
  play,
  advance,
}: ControlParts): OperationHandlers<typeof controlApi> {
  const worldOf = ({ account = mainAccountName }: { readonly account?: string | undefined }): World => {
    const known = simulation().accounts.get(account);
    if (known === undefined) throw new RefusedRequest(404, 'notfound', `there is no account "${account}"`);
    return known.world;
  };
  const worldWith = (id: number, query: { readonly account?: string | undefined }): World => {
    const world = worldOf(query);
    if (world.collector(id) === undefined) throw serviceRefusal('InvalidCollector');
    return world;
  };
  const size = () => worldOf({}).collectors().length;
  return {
    readHealth: async () => ({
      body: { status: 'ok', now: worldOf({}).now(), speed, collectors: size() },
    }),
    readDocument: async () => ({ body: describeCollectorManagementApi() }),
    showFleet: async ({ query }) => pageAnswer(fleetPage(worldOf(query), { speed, ...query })),
    readRecord: async () => ({ body: simulation().record.snapshot() }),
    readRequests: async ({ query }) => ({
      body: { requests: simulation().record.newestRequests(query.limit) },
    }),
    reset: async () => {
      play(simulation().scenario);
      return { body: { collectors: size() } };
    },
    playScenario: async ({ body }) => {
      play(scenarioOf(body));
      return { body: { collectors: size() } };
    },
    advanceTime: async ({ body }) => {
      advance(body.advance);
      return { body: { now: worldOf({}).now() } };
    },
    killCollector: async ({ params: { id }, query }) => {
      worldWith(id, query).kill(id);
      return { body: { id } };
    },
    reviveCollector: async ({ params: { id }, query }) => {
      worldWith(id, query).revive(id);
      return { body: { id } };
    },
    upgradeCollector: async ({ params: { id }, query, body }) => ({
      body: { id, taskId: worldWith(id, query).clickUpgrade(id, body?.toVersion).id },
    }),
    offerBuild: async ({ query, body: { version, offered } }) => {
      const world = worldOf(query);
      if (offered) world.offerBuild(version);
      else world.withdrawBuild(version);
      return { body: { offered: [...world.builds.offered(world.now())] } };
    },
  };
}

function pageAnswer(html: string): HandlerAnswer<string> {
  return { headers: { 'content-type': 'text/html; charset=utf-8' }, body: html };
}

function scenarioOf(data: unknown): Scenario {
  try {
    return parseScenario(data);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new RefusedRequest(400, 'scenario.invalid', error.message);
  }
}
