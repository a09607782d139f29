import { assertNever } from '../../base/assert.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { ApiBudget, BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import { isPage } from './service-failure.ts';

export type ServiceCircuit = ReturnType<typeof makeServiceCircuit>;

export interface CircuitMark {
  readonly epoch: number;
}

/** One lost answer is everyday, and a gateway that restarts loses a few; this many in a row are an outage. */
export const unansweredMax = 5;

/**
 * Reports to the budget when request after request brings no usable answer, and when one does again: every call to a service
 * that is down costs a time-out, and a service that comes back must not be met by everyone at once. Requests that
 * were running already at that report say nothing new: each request carries the mark of its start.
 */
export function makeServiceCircuit(budget: ApiBudget) {
  let epoch = 0;
  let unansweredInRow = 0;

  return {
    begin: (): CircuitMark => ({ epoch }),

    /** No connection, a time-out, a 5xx, a page that is not JSON. @param reason for people, free of secrets */
    async unanswered(mark: CircuitMark, grant: BudgetGrant, reason: string): Promise<void> {
      if (mark.epoch !== epoch) return;
      unansweredInRow += 1;
      if (unansweredInRow < unansweredMax && grant.isProbe !== true) return;
      epoch += 1;
      await budget.serviceDown(reason);
    },

    /** Anything the service itself can have said, be it a refusal. */
    async answered(mark: CircuitMark, grant: BudgetGrant): Promise<void> {
      if (mark.epoch !== epoch) return;
      const wasDown = unansweredInRow >= unansweredMax || grant.isProbe === true;
      unansweredInRow = 0;
      if (wasDown) await budget.serviceUp();
    },
  };
}

/** Reported by the status alone, whatever the body; a gateway that is up in front of a service that is down sends none of them. */
const knownByStatus: readonly (number | undefined)[] = [301, 308, 401, 429, 431];

/** Whether a fault shows that the service does not answer at all. */
export function isUnanswered(fault: HttpFault): boolean {
  const { kind, status, isJson } = fault;
  if (knownByStatus.includes(status)) return false;
  switch (kind) {
    case 'connect':
    case 'timeout':
    case 'reset':
      return true;
    case 'undecodable':
      // JSON of another shape is an answer that we do not understand (P13).
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
