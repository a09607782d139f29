import type { Clock, DurationMs } from '../../base/time.ts';
import { type Account, type Callers, makeAccounts } from '../api/callers.ts';
import { ErrorAnswers } from '../api/error-answers.ts';
import { ServiceRecord } from '../api/service-record.ts';
import type { ListedFleet } from '../fleet/listed-fleet.ts';
import type { StoredWorld } from '../fleet/stored-world.ts';
import type { World } from '../fleet/world.ts';
import { AccessKey, mainAccountName } from '../scenario/account-scenario.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { Authentication, type Credentials } from './authentication.ts';
import { Deployments } from './deployments.ts';
import { HttpFaults } from './http-faults.ts';
import { RequestChecks } from './request-checks.ts';

/** What a scenario makes of the service. A reset replaces it as a whole. */
export interface Simulation {
  readonly scenario: Scenario;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly authentication: Authentication;
  readonly errors: ErrorAnswers;
  readonly record: ServiceRecord;
  readonly checks: RequestChecks;
}

interface SimulationParts {
  readonly clock: Clock;
  readonly realClock: Clock;
  readonly speed: number;
  /** Keys of one user who may manage the main account, in addition to those of the scenario. */
  readonly credentials: readonly Credentials[];
  readonly callers: Callers;
  /** The address of the server, once it listens. */
  readonly ownUrl: () => string;
  /** Waits in the service's time. */
  readonly wait: (durationMs: DurationMs) => Promise<void>;
  /** Called after each write to a fleet. */
  readonly changed: () => void;
}

/** @param fleets default: new fleets are drawn */
export function makeSimulation(
  parts: SimulationParts,
  scenario: Scenario,
  fleets: {
    /** The state of an earlier run, by account. */
    readonly stored?: Readonly<Record<string, StoredWorld>> | undefined;
    /** The collectors of the main account. */
    readonly listed?: ListedFleet | undefined;
  } = {},
): Simulation {
  const { clock, credentials, changed } = parts;
  const accounts = makeAccounts({ scenario, clock, changed, ...fleets });
  const record = new ServiceRecord(clock);
  const keys = [...credentials.map((each) => AccessKey.parse({ ...each })), ...scenario.keys];
  const authentication = new Authentication({ keys, limits: scenario.limits, clock });
  const errors = new ErrorAnswers(scenario);
  const checks = new RequestChecks({
    ...parts,
    ...{ scenario, accounts, authentication, errors, record },
    deployments: new Deployments(scenario, parts.ownUrl),
    faults: new HttpFaults(scenario, worldOf({ accounts }, mainAccountName).startedAt),
  });
  return { scenario, accounts, authentication, errors, record, checks };
}

/** @throws for an account that the scenario does not have */
export function worldOf({ accounts }: Pick<Simulation, 'accounts'>, name: string): World {
  const account = accounts.get(name);
  if (account === undefined) throw new Error(`the scenario has no account "${name}"`);
  return account.world;
}
