import { invariant } from '../../base/assert.ts';
import type { Clock } from '../../base/time.ts';
import type { HttpRequest } from '../../http/operation-handlers.ts';
import { drawListed, highestId, type ListedFleet } from '../fleet/listed-fleet.ts';
import type { StoredWorld } from '../fleet/stored-world.ts';
import { World } from '../fleet/world.ts';
import { type AccessKey, mainAccountName } from '../scenario/account-scenario.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { SearchJobs } from './search-job-registry.ts';

/** An account, which belongs to one deployment and has its own fleet (collector-api.md §1, §5). */
export interface Account {
  readonly name: string;
  readonly enterprise: boolean;
  readonly deployment: string | null;
  readonly world: World;
  readonly searchJobs: SearchJobs;
}

/** Separates the ids of accounts, so that a collector of one is unknown in all others. */
const idsPerAccount = 1_000_000;
/** Ids are drawn from here on. */
const idsBegin = 100_000_000;

/** Every account of the service, the main one first. */
export function makeAccounts(parts: {
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** The state of an earlier run, by account. */
  readonly stored?: Readonly<Record<string, StoredWorld>> | undefined;
  readonly changed?: () => void;
  /** The main account has these collectors. Default: drawn ones. */
  readonly listed?: ListedFleet | undefined;
}): ReadonlyMap<string, Account> {
  const { scenario, clock, listed } = parts;
  const listedIds = listed === undefined ? 0 : Math.max(0, highestId(listed) - idsBegin);
  const described = new Map(Object.entries(scenario.accounts));
  const names = new Set([mainAccountName, ...described.keys()]);
  return new Map(
    [...names].map((name, index) => {
      const account = described.get(name);
      const world = new World({
        clock,
        scenario: name === mainAccountName ? scenario : withOwnFleet(scenario, name, account?.fleet ?? 0),
        idOffset: listedIds + index * idsPerAccount,
        ...(listed !== undefined && name === mainAccountName ? { drawCollector: drawListed(listed) } : {}),
        stored: parts.stored?.[name],
        ...(parts.changed === undefined ? {} : { changed: parts.changed }),
      });
      return [
        name,
        {
          name,
          enterprise: account?.enterprise ?? true,
          deployment: account?.deployment ?? null,
          world,
          searchJobs: new SearchJobs(),
        },
      ];
    }),
  );
}

function withOwnFleet(scenario: Scenario, name: string, size: number): Scenario {
  return { ...scenario, fleet: { ...scenario.fleet, size, seed: `${scenario.fleet.seed}:${name}` } };
}

/** The caller of a request, after the sign-in. */
export interface Caller {
  readonly account: Account;
  readonly may: AccessKey['may'];
  /** The session of the request, or the one opened for it. */
  readonly sessionId: string;
  /** False: the request had no session cookie. */
  readonly broughtCookie: boolean;
  /** Which collectors lists show; absent: all. A fault may hide some of them, or all. */
  readonly isShown?: (collectorId: number) => boolean;
  /** In which order lists show collectors; absent: as they were registered. */
  readonly rankOf?: (collectorId: number) => number;
}

/** Stores the caller of each request while it is being handled. */
export class Callers {
  readonly #callers = new WeakMap<HttpRequest, Caller>();

  note(request: HttpRequest, caller: Caller): void {
    this.#callers.set(request, caller);
  }

  of(request: HttpRequest): Caller {
    const caller = this.#callers.get(request);
    invariant(caller !== undefined, 'a handler is reached only after the sign-in');
    return caller;
  }
}
