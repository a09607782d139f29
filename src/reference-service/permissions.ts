import type { Operation } from '../contract/operation.ts';
import { createUpgradeTask } from '../contract/upgrade-operations.ts';
import type { Caller } from './callers.ts';
import { refused } from './create-refusals.ts';
import { refusal } from './refusals.ts';
import type { ServiceFailure } from './service-failure.ts';

/**
 * Whether the caller may do this (collector-api.md §5.2, §5.6, §7.5).
 * @returns the refusal, or undefined when it may
 */
export function permissionRefusal(operation: Operation, caller: Caller): ServiceFailure | undefined {
  if (operation.path.startsWith('/search/')) {
    return caller.account.enterprise ? undefined : refusal('forbidden');
  }
  if (caller.may === 'manage') return undefined;
  if (operation.method === 'GET') return caller.may === 'view' ? undefined : refusal('forbidden');
  if (operation.name === createUpgradeTask.name) return refused('collector.invalid');
  // The code for collectors is not among those of the source endpoints (§7.4).
  return operation.path.includes('/sources') ? refusal('forbidden') : refusal('CannotModifyCollector');
}
