import { assertNever } from '../../base/assert.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { ApiBudget, BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import { isPage } from './service-failure.ts';

export type ServiceCircuit = ReturnType<typeof makeServiceCircuit>;

/** The number of outages that were reported before a request began. */
export type CircuitMark = number;

/** A single lost response is normal, and a gateway's restart loses a few. So many in a row are an outage. */
export const unansweredMax = 5;

/**
 * Reports an outage to the budget after several failures in a row, and its end. Each call to a failed service costs a
 * time-out, and a service that recovers must not get all requests at once. Requests that were in flight at the report
 * do not count: each carries the mark of its start.
 */
export function makeServiceCircuit(budget: ApiBudget) {
  let epoch = 0;
  let unansweredInRow = 0;

  return {
    begin: (): CircuitMark => epoch,

    /** No connection, a time-out, a 5xx, or a page that is not JSON. @param reason for people, without secrets */
    async unanswered(mark: CircuitMark, grant: BudgetGrant, reason: string): Promise<void> {
      if (mark !== epoch) return;
      unansweredInRow += 1;
      if (unansweredInRow < unansweredMax && grant.isProbe !== true) return;
      epoch += 1;
      await budget.serviceDown(reason);
    },

    /** Any response of the service itself, including a refusal. */
    async answered(mark: CircuitMark, grant: BudgetGrant): Promise<void> {
      if (mark !== epoch) return;
      const wasDown = unansweredInRow >= unansweredMax || grant.isProbe === true;
      unansweredInRow = 0;
      if (wasDown) await budget.serviceUp();
    },
  };
}

/** These statuses count as answers, whatever the body: a gateway in front of a failed service sends none of them. */
const knownByStatus: readonly (number | undefined)[] = [301, 308, 401, 429, 431];

/** True when a fault shows that the service does not answer. */
export function isUnanswered(fault: HttpFault): boolean {
  const { kind, status, isJson } = fault;
  if (knownByStatus.includes(status)) return false;
  switch (kind) {
    case 'connect':
    case 'timeout':
    case 'reset':
      return true;
    case 'undecodable':
      // JSON of another shape is an answer with unknown content (P13).
      return status === undefined || !isJson;
    case 'status':
      return status === undefined || status >= 500 || status === 408 || isPage(fault);
    case 'tooLarge':
    case 'aborted':
      return false;
    default:
      return assertNever(kind);
  }
}
