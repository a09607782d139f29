import type { BuildHistory } from '../ports/build-history.ts';
import type { SharedAttributeParts } from '../records/read-records.ts';
import type { ApplyVerbParts } from './apply-verb.ts';
import type { HoldsParts } from './change-holds.ts';
import type { ExplainParts } from './explain-collector.ts';
import type { ListPoliciesParts } from './list-policies.ts';

/** Dependencies of the operations: stores, readers, and the policies of the config. */
export interface OperationsParts
  extends ApplyVerbParts,
    ListPoliciesParts,
    ExplainParts,
    HoldsParts,
    SharedAttributeParts {
  readonly accounts: ApplyVerbParts['accounts'];
  readonly fleet: ApplyVerbParts['fleet'];
  readonly store: ApplyVerbParts['store'];
  readonly configs: ApplyVerbParts['configs'] & ListPoliciesParts['configs'];
  readonly buildHistory: Pick<BuildHistory, 'read'>;
  /** The name of this installation; undefined: no name. */
  readonly installation: string | undefined;
}
