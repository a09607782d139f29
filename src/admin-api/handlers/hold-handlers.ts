import { assertNever } from '../../base/assert.ts';
import type { adminApi } from '../../contract/admin/api.ts';
import type { CollectorExplanation } from '../../contract/admin/collector-explanation.ts';
import type { HoldAnswer } from '../../contract/admin/holds.ts';
import type { OperationHandlers } from '../../http/operation-handlers.ts';
import type { ExplainResult, HoldResult } from '../../orchestrator/operations/operations.ts';
import { didYouMean, unknownSubjectText } from '../../rollout/messages/hold-command-notes.ts';
import { AdminFault } from '../access/admin-fault.ts';
import { type AskOperations, withReason } from './ask-operations.ts';

/** Handlers of the admin API for builds, collectors and strata, independent of rollouts. */
export function makeHoldHandlers(ask: AskOperations) {
  return {
    holdSubject: async ({ body }) => ({
      body: answerOrRefuse(await ask.act((operations) => operations.hold(withReason(body)))),
    }),
    releaseSubject: async ({ body }) => ({
      body: answerOrRefuse(await ask.act((operations) => operations.release(withReason(body)))),
    }),
    listHolds: async () => ({ body: await ask.read((operations) => operations.listHolds()) }),
    readAudit: async ({ query: { limit, ...filter } }) => {
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      const entries = await ask.read((operations) =>
        operations.readAudit(limit, isFiltered ? filter : undefined),
      );
      return { body: { entries } };
    },
    listBuildHistory: async () => ({
      body: { builds: await ask.read((operations) => operations.listBuildHistory()) },
    }),
    // The request to the service waits for its place in the API budget.
    explainCollector: async ({ params: { collector } }) => ({
      body: explained(collector, await ask.act((operations) => operations.explain(collector))),
    }),
  } satisfies Partial<OperationHandlers<typeof adminApi>>;
}

function answerOrRefuse(result: HoldResult): HoldAnswer {
  switch (result.kind) {
    case 'done':
    case 'unchanged':
      return result;
    case 'unknown':
      throw new AdminFault('notFound', unknownSubjectText(result.why));
    case 'unavailable':
      throw new AdminFault(result.kind, result.reason);
    default:
      return assertNever(result);
  }
}

function explained(collector: string, result: ExplainResult): CollectorExplanation {
  switch (result.kind) {
    case 'explained': {
      const { kind: _kind, ...explanation } = result;
      return explanation;
    }
    case 'unknownCollector':
      throw new AdminFault('notFound', `no installed collector ${collector}${didYouMean(result.nearest)}`);
    case 'unavailable':
      throw new AdminFault('unavailable', result.reason);
    default:
      return assertNever(result);
  }
}
