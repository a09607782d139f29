import type { Clock } from '../../base/time.ts';
import type { Outage } from '../../contract/admin/rollout-status.ts';
import type { ReadApiBudgetStatus } from '../../orchestrator/ports/api-budget.ts';
import { outageReasons } from '../../rollout/status/api-budget-status.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { apiBudgetKeys } from './ledger.ts';
import { statusScript } from './scripts.ts';

export interface ReadApiBudgetStatusParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** The id of the access key with the budget. */
  readonly accessId: string;
  /** The rate of the whole budget. */
  readonly requestsPerSecond: number;
  readonly clock: Clock;
}

/** Makes the function that reads the status of a budget, in one call of Redis. Any process may use it. */
export function makeReadApiBudgetStatus(parts: ReadApiBudgetStatusParts): ReadApiBudgetStatus {
  const keys = apiBudgetKeys(parts.keyPrefix, parts.accessId);
  return async () => {
    const reply = await runScript(parts.commands, statusScript, { keys, args: {} });
    const [used, rateLimited, kind, leftMs, down, downForMs, share] = reply;
    // The script returns durations, so that the clocks of Redis and this process need not agree.
    const now = parts.clock.now();
    return {
      requestsPerSecond: Number(used),
      requestsPerSecondNow: parts.requestsPerSecond * Number(share),
      requestsPerSecondMax: parts.requestsPerSecond,
      rateLimited,
      outage: outageOf(kind, {
        down,
        since: downForMs < 0 ? null : now - downForMs,
        until: leftMs === 0 ? null : now + leftMs,
      }),
    };
  };
}

const kinds: Readonly<Record<string, Outage['kind']>> = {
  rate: 'rateLimited',
  single: 'signInThrottled',
  down: 'serviceDown',
};

function outageOf(
  pausedFor: string,
  { down, since, until }: Pick<Outage, 'since' | 'until'> & { readonly down: string },
): Outage | null {
  if (pausedFor === '') return null;
  // A newer daemon may use more kinds (P13).
  const kind = kinds[pausedFor] ?? 'rateLimited';
  return { kind, reason: outageReasons[kind], detail: down === '' ? null : down, since, until };
}
