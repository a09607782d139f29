import type { Policy } from '../../rollout/model/policy.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import type { ApplyVerbParts } from './apply-verb.ts';
import type { ListPoliciesParts } from './list-policies.ts';

/** Dependencies of the operations: stores, readers, and the policies of the config. */
export interface OperationsParts extends ApplyVerbParts, ListPoliciesParts {
  readonly store: ApplyVerbParts['store'];
  readonly configs?: NonNullable<ApplyVerbParts['configs']> & NonNullable<ListPoliciesParts['configs']>;
  /** The policies of the config. */
  readonly rollouts: readonly Policy[];
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  /** The name of this installation. */
  readonly installation?: string | undefined;
}
