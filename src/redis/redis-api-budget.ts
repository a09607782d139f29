import {
  type ApiBudgetDispatcher,
  type ApiBudgetDispatcherParts,
  makeApiBudgetDispatcher,
} from './api-budget-dispatcher.ts';
import { type ApiBudgetLedgerParts, makeApiBudgetLedger } from './api-budget-ledger.ts';

export type RedisApiBudget = ApiBudgetDispatcher;

export type RedisApiBudgetParts = ApiBudgetLedgerParts & Omit<ApiBudgetDispatcherParts, 'ledger'>;

/** The API budget over all daemons, in Redis (P8). */
export function makeRedisApiBudget(parts: RedisApiBudgetParts): RedisApiBudget {
  return makeApiBudgetDispatcher({ ...parts, ledger: makeApiBudgetLedger(parts) });
}
