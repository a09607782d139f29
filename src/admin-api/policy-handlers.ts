import type { adminApi } from '../contract/admin-api.ts';
import type { OperationHandlers } from '../http/http-exchange.ts';
import type { AskOperations } from './ask-operations.ts';

/** The handlers of our own API that are about policies. */
export type PolicyHandlers = Pick<OperationHandlers<typeof adminApi>, 'listPolicies'>;

export function makePolicyHandlers(ask: AskOperations): PolicyHandlers {
  return {
    listPolicies: async () => {
      const standings = await ask.read((operations) => operations.listPolicies());
      const notReady = await ask.notReady();
      return { body: { ...standings, ...(notReady !== undefined && { notReady }) } };
    },
  };
}
